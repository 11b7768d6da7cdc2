// Each view does what it is for.
import assert from 'node:assert/strict';
import {test} from 'node:test';
import {key, number, open, painted, picture, tabs, text} from './browser.mjs';
import {withDiff} from './odd_samples.mjs';
import {sampleReport, sizes} from './sample.mjs';

const report = sampleReport(sizes.small);
const step = report.steps[0];
const rows = (page, table) => page.$$eval(`#${table} .rows [role=row]`, (list) => list.map((row) => row.dataset.key));

test('number keys and arrow keys choose tabs; their state is said to ARIA', async () => {
  const page = await open(report);
  for (const tab of tabs) {
    await page.keyboard.press(key(tab));
    assert.deepEqual(await page.$$eval('[role=tab][aria-selected=true]', (list) => list.map((entry) => entry.id)), [
      `tab-${tab}`,
    ]);
    assert.equal(await page.getAttribute('#panel', 'aria-labelledby'), `tab-${tab}`);
  }
  await page.focus('#tab-about');
  await page.keyboard.press('ArrowRight');
  assert.equal(await page.evaluate(() => document.activeElement.id), 'tab-findings');
  assert.notEqual(await page.$eval('#tab-findings', (tab) => getComputedStyle(tab).outlineStyle), 'none');
  await page.done();
});

test('a finding selects its rows', async () => {
  const page = await open(report);
  const finding = step.findings[0];
  await page.click('.card[data-rule=whole-copies] .do');
  assert.equal(await page.getAttribute('#tab-ops', 'aria-selected'), 'true');
  assert.deepEqual(
    (await rows(page, 'ops')).map(Number).sort((a, b) => a - b),
    [...finding.rows].sort((a, b) => a - b),
  );
  assert.equal(await page.$$eval('#ops .row.selected', (list) => list.length), finding.rows.length);
  await page.click('#ops .filter');
  assert.ok((await rows(page, 'ops')).length > finding.rows.length);
  await page.keyboard.press(key('findings'));
  await page.click('.card[data-rule=whole-copies] .links .source');
  const wanted = step.ops.filter((op) => op.source === finding.sources[0]).length;
  assert.equal(number(await text(page, '#ops .count')), wanted);
  await page.done();
});

test('search finds operations, parts, kernels, findings and sources', async () => {
  const page = await open(report);
  const first = async (query) => {
    await page.keyboard.press('/');
    await page.keyboard.type(query);
    return text(page, '#results [aria-selected=true]');
  };
  assert.ok((await first('whole-copies')).startsWith('finding'));
  await page.keyboard.press('Escape');
  assert.equal(await page.$('#search'), null);
  assert.ok((await first('part layer 3 attention.core')).startsWith('part'));
  await page.keyboard.press('Enter');
  assert.equal(await page.$eval('#tree [aria-selected=true]', (item) => item.dataset.id), 'layer:3/attention.core');
  assert.ok((await first('kernel tlp')).startsWith('kernel'));
  await page.keyboard.press('Escape');
  assert.ok((await first('source llama.py:54')).startsWith('source'));
  await page.keyboard.press('Escape');
  const op = await first('op fusion.114');
  assert.ok(op.startsWith('op'), op);
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('ArrowUp');
  await page.keyboard.press('Enter');
  assert.equal(await page.$eval('#tree [aria-selected=true]', (item) => item.dataset.id), 'op:114');
  await page.done();
});

test('operations are sorted, filtered and walked by keys', async () => {
  const page = await open(report);
  await page.keyboard.press(key('ops'));
  const most = [...step.ops].sort((a, b) => b.us - a.us)[0].id;
  assert.equal(Number((await rows(page, 'ops'))[0]), most);
  await page.click('#ops [role=columnheader][data-key=id] button');
  await page.click('#ops [role=columnheader][data-key=id] button');
  assert.equal(await page.getAttribute('#ops [role=columnheader][data-key=id]', 'aria-sort'), 'ascending');
  assert.equal((await rows(page, 'ops'))[0], '0');
  await page.fill('#ops input', 'attention.core kernel');
  const wanted = step.ops.filter((op) => op.part === 'attention.core' && op.kind === 'kernel');
  assert.deepEqual(
    (await rows(page, 'ops')).map(Number),
    wanted.map((op) => op.id),
  );
  await page.focus('#ops .scroll');
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  assert.equal(await page.$eval('#tree [aria-selected=true]', (item) => item.dataset.id), `op:${wanted[1].id}`);
  await page.done();
});

test('the flame graph selects and takes a root', async () => {
  const page = await open(report);
  await page.keyboard.press(key('flame'));
  assert.ok((await painted(page, '#flame')) > 10000);
  await page.click('#flame', {position: {x: 400, y: 35}});
  const id = await page.$eval('#tree [aria-selected=true]', (item) => item.dataset.id);
  assert.match(id, /^layer:/);
  const before = await picture(page, '#flame');
  await page.dblclick('#flame', {position: {x: 400, y: 35}});
  assert.notEqual(await picture(page, '#flame'), before);
  await page.click('#flame-up');
  assert.equal(await picture(page, '#flame'), before);
  await page.done();
});

test('the time line zooms by buttons, keys and wheel', async () => {
  const page = await open(report);
  await page.keyboard.press(key('flame'));
  const span = async () => {
    const box = await page.$eval('#zoom-span', (element) => ({...element.dataset}));
    return Number(box.to) - Number(box.from);
  };
  assert.equal(await span(), step.cycles);
  const whole = await picture(page, '#timeline');
  await page.click('#zoom-in');
  assert.equal(Math.round(await span()), Math.round(step.cycles / 2));
  assert.notEqual(await picture(page, '#timeline'), whole);
  await page.focus('#timeline');
  await page.keyboard.press('+');
  assert.ok((await span()) < step.cycles * 0.31);
  const from = Number(await page.getAttribute('#zoom-span', 'data-from'));
  await page.keyboard.press('ArrowRight');
  assert.ok(Number(await page.getAttribute('#zoom-span', 'data-from')) > from);
  await page.keyboard.press('0');
  assert.equal(await span(), step.cycles);
  assert.equal(await page.getAttribute('#tab-flame', 'aria-selected'), 'true');
  await page.hover('#timeline', {position: {x: 500, y: 90}});
  await page.keyboard.down('Control');
  await page.mouse.wheel(0, -300);
  await page.keyboard.up('Control');
  await page.waitForFunction((cycles) => {
    const box = document.querySelector('#zoom-span').dataset;
    return box.to - box.from < cycles * 0.5;
  }, step.cycles);
  await page.click('#timeline', {position: {x: 500, y: 90}});
  const op = step.ops[Number((await page.$eval('#tree [aria-selected=true]', (item) => item.dataset.id)).slice(3))];
  assert.ok(op);
  await page.click('#zoom-selection');
  assert.ok((await span()) < op.cycles * 1.3 + 20);
  await page.done();
});

test('the roofline holds parts and operations, and a point selects its own', async () => {
  const page = await open(report);
  await page.keyboard.press(key('limits'));
  const parts = new Set(step.ops.filter((op) => op.part && op.matmul_flops > 0).map((op) => op.part));
  assert.equal((await page.$$('#roofline .point')).length, parts.size);
  const units = await page.$$eval('#units [data-unit]', (list) => list.map((row) => row.dataset.unit));
  assert.deepEqual(
    units,
    step.units.map((unit) => unit.unit),
  );
  const click = (selector) =>
    page.$eval(selector, (point) => point.dispatchEvent(new MouseEvent('click', {bubbles: true})));
  await click('#roofline .point[data-key="attention.core"]');
  assert.equal(await text(page, '#inspector h2 span'), 'attention.core');
  await page.selectOption('#roofline-by', 'op');
  const wanted = step.ops.filter((op) => op.matmul_flops > 0 && op.hbm_bytes > 0 && op.us > 0);
  assert.equal((await page.$$('#roofline .point')).length, wanted.length);
  const id = String(wanted[3].id);
  await click(`#roofline .point[data-key="${id}"]`);
  assert.equal(await page.$eval('#tree [aria-selected=true]', (item) => item.dataset.id), `op:${id}`);
  assert.equal(await page.$eval('#roofline .point.selected', (point) => point.dataset.key), id);
  assert.ok((await text(page, '#units')).includes('selected'));
  await page.done();
});

test('the memory cursor says what lives where', async () => {
  const page = await open(report);
  await page.keyboard.press(key('memory'));
  const at = async () => Number(await page.getAttribute('#cursor', 'data-position'));
  const check = async () => {
    const position = await at();
    const live = step.buffers.filter((buffer) => buffer.first <= position && position <= buffer.last);
    assert.equal(number(await text(page, '#living .count')), live.length);
    for (const memory of ['hbm', 'vmem']) {
      assert.equal(
        Number(await page.getAttribute(`[data-memory=${memory}]`, 'data-bytes')),
        live.filter((buffer) => buffer.memory === memory).reduce((sum, buffer) => sum + buffer.bytes, 0),
      );
    }
  };
  await check();
  await page.focus('#memory-vmem');
  await page.keyboard.press('ArrowRight');
  await page.keyboard.press('Shift+ArrowRight');
  assert.equal(await at(), 11);
  await check();
  await page.click('#memory-hbm', {position: {x: 400, y: 60}});
  assert.ok((await at()) > 20);
  await check();
  await page.done();
});

test('bundles stand beside their loops, and a bundle is selected in the tree', async () => {
  const withSource = {
    ...report,
    source_text: {'llama.py': [50, Array.from({length: 60}, (_, index) => `line ${50 + index}`)]},
  };
  const page = await open(withSource);
  await page.keyboard.press(key('bundles'));
  const kernel = step.kernels[0];
  await page.click(`#kernels .rows [data-key="${kernel.id}"]`);
  assert.equal(number(await text(page, '#bundles .count')), kernel.bundles.length);
  assert.ok((await text(page, '#bundles [data-key="0"]')).includes(kernel.bundles[0][2]));
  assert.equal(await text(page, '#source li.own'), `line ${kernel.source.split(':')[1]}`);
  await page.click('#bundles .rows [data-key="7"]');
  assert.equal(await page.$eval('#tree [aria-selected=true]', (item) => item.dataset.id), `op:${kernel.rows[0]}/b7`);
  await page.fill('#bundles input', 'vmatpush2');
  assert.equal(
    number(await text(page, '#bundles .count')),
    kernel.bundles.filter((bundle) => `${bundle[4]} ${bundle[2]}`.includes('vmatpush2')).length,
  );
  await page.done();
});

test('diff: totals, waterfall, lines, and what is not resolvable', async () => {
  const both = withDiff(report);
  const page = await open(both);
  assert.equal(await page.getAttribute('#tab-diff', 'aria-selected'), 'true');
  const diff = both.diff.steps[0];
  assert.equal(Number(await page.getAttribute('#diff-total', 'data-before')), diff.before.us);
  assert.equal(Number(await page.getAttribute('#diff-total', 'data-after')), diff.after.us);
  assert.ok((await text(page, '.stair:nth-child(2)')).startsWith('attention.cache'));
  assert.equal(number(await text(page, '#diff .count')), diff.lines.length);
  await page.click('#diff .filter');
  assert.equal(
    number(await text(page, '#diff .count')),
    diff.lines.reduce((sum, line) => sum + line.parts.length, 0),
  );
  await page.click('#diff .filter');
  await page.click('#diff .rows .row');
  assert.ok((await text(page, '#inspector h2')).includes('attention.cache'));
  await page.selectOption('.diff-head select', '1');
  assert.ok((await text(page, '#diff-total')).includes('not resolvable'));
  await page.done();
});

test('dark and light: by the system, and by the toggle', async () => {
  const colors = async (page) =>
    page.evaluate(() => {
      const style = getComputedStyle(document.body);
      return [style.backgroundColor, style.color];
    });
  const light = await open(report, {scheme: 'light'});
  const dark = await open(report, {scheme: 'dark'});
  assert.notDeepEqual(await colors(light), await colors(dark));
  await dark.click('#theme');
  await dark.click('#theme');
  assert.equal(await text(dark, '#theme'), 'light');
  assert.deepEqual(await colors(dark), await colors(light));
  await light.keyboard.press('t');
  assert.equal(await light.evaluate(() => document.documentElement.dataset.scheme), 'dark');
  await light.done();
  await dark.done();
});

test('help, panes and steps by key', async () => {
  const page = await open(report);
  await page.keyboard.press('?');
  assert.ok((await text(page, '[role=dialog]')).includes('simulated'));
  await page.keyboard.press('Escape');
  assert.equal(await page.$('[role=dialog]'), null);
  await page.keyboard.press('[');
  await page.keyboard.press(']');
  assert.equal(await page.$('#tree'), null);
  assert.equal(await page.$('#inspector'), null);
  await page.keyboard.press('[');
  await page.keyboard.press('s');
  assert.equal(Number(await page.getAttribute('#total', 'data-us')), report.steps[1].total_us);
  await page.done();
});
