// The model tree: opened, closed and walked by mouse and by keys, down to single bundles; ARIA says what is seen.
import assert from 'node:assert/strict';
import {test} from 'node:test';
import {open, text} from './browser.mjs';
import {sampleReport, sizes} from './sample.mjs';

const report = sampleReport(sizes.small);
const step = report.steps[0];
const labels = (page) => page.$$eval('#tree [role=treeitem]', (items) => items.map((item) => item.dataset.id));
const chosen = (page) => page.$eval('#tree [aria-selected=true]', (item) => item.dataset.id).catch(() => null);

test('mouse opens and closes', async () => {
  const page = await open(report);
  const before = await labels(page);
  assert.equal(before[0], 'step');
  await page.click('[data-id="layer:1"] .twist');
  assert.ok((await labels(page)).includes('layer:1/attention.qkv'));
  assert.equal(await page.getAttribute('[data-id="layer:1"]', 'aria-expanded'), 'true');
  await page.click('[data-id="layer:1"] .twist');
  assert.deepEqual(await labels(page), before);
  await page.done();
});

test('arrow keys walk from the step to a bundle and back', async () => {
  const page = await open(report);
  await page.keyboard.press('m');
  assert.equal(await page.evaluate(() => document.activeElement.id), 'tree');
  const down = async (id, keys) => {
    for (const key of keys) await page.keyboard.press(key);
    assert.equal(await chosen(page), id);
  };
  const kernel = step.kernels.find(
    (entry) => entry.rows.length === 1 && step.ops[entry.rows[0]].layer !== null && entry.loops.length,
  );
  const op = step.ops[kernel.rows[0]];
  await down('step', ['Home']);
  await page.keyboard.press('ArrowDown');
  while ((await chosen(page)) !== `layer:${op.layer}`) await page.keyboard.press('ArrowDown');
  await page.keyboard.press('ArrowRight');
  await page.keyboard.press('ArrowRight');
  while ((await chosen(page)) !== `layer:${op.layer}/${op.part}`) await page.keyboard.press('ArrowDown');
  await page.keyboard.press('ArrowRight');
  await page.keyboard.press('ArrowRight');
  while ((await chosen(page)) !== `op:${op.id}`) await page.keyboard.press('ArrowDown');
  await down(`op:${op.id}/k`, ['ArrowRight', 'ArrowRight']);
  await down(`op:${op.id}/b0`, ['ArrowRight', 'ArrowRight']);
  assert.equal(await page.$eval('#tree [aria-selected=true]', (item) => item.getAttribute('aria-level')), '6');
  assert.ok(
    await page.evaluate(
      () => document.getElementById(document.getElementById('tree').getAttribute('aria-activedescendant')) !== null,
    ),
  );
  while (!(await chosen(page)).endsWith('/l0')) await page.keyboard.press('ArrowDown');
  await down(`op:${op.id}/b${kernel.loops[0].first}`, ['ArrowRight', 'ArrowRight']);
  await down(`op:${op.id}/l0`, ['ArrowLeft']);
  await down(`op:${op.id}/k`, ['ArrowLeft', 'ArrowLeft']);
  await down(`op:${op.id}`, ['ArrowLeft', 'ArrowLeft']);
  await page.done();
});

test('what is selected is shown at the right, with its own sums', async () => {
  const page = await open(report);
  await page.click('[data-id="layer:2"]');
  const rows = step.ops.filter((op) => op.layer === 2);
  const us = Number(await page.getAttribute('#inspector [data-value]', 'data-value'));
  assert.ok(Math.abs(us - rows.reduce((sum, op) => sum + op.us, 0)) < 1e-6);
  assert.ok(
    (await text(page, '#inspector')).includes(`operations${rows.length}`) ||
      (await text(page, '#inspector')).includes(`operations ${rows.length}`),
  );
  await page.keyboard.press('Escape');
  assert.equal(await chosen(page), null);
  await page.done();
});

test('a link into the page opens where it points', async () => {
  const page = await open(report, {hash: '#tab=ops&at=op:5'});
  assert.equal(await page.getAttribute('#tab-ops', 'aria-selected'), 'true');
  assert.equal(await chosen(page), 'op:5');
  await page.done();
});

test('what a bundle waited stands beside its own cause', async () => {
  const kernel = step.kernels.find((entry) => entry.bundles.some(([runs, waited]) => waited > 0));
  const index = kernel.bundles.findIndex(([, waited]) => waited > 0);
  const [runs, waited, cause] = kernel.bundles[index];
  const page = await open(report, {hash: `#tab=bundles&at=op:${kernel.rows[0]}/b${index}`});
  const lines = await page.$$eval('#inspector .causes tr', (list) =>
    list.map((row) => [...row.children].slice(0, 2).map((cell) => cell.textContent.replace(/^. /, ''))),
  );
  const shown = Object.fromEntries(lines.map(([name, count]) => [name, Number(count.replace(/,/g, ''))]));
  assert.deepEqual(shown, {waited, [cause]: runs});
  await page.done();
});

test('a kernel of twenty thousand bundles is walked without drawing them all', async () => {
  const large = sampleReport({...sizes.small, kernels: 2, bundles_each: 20000}, ['decode']);
  const kernel = large.steps[0].kernels[0];
  const page = await open(large, {hash: `#tab=bundles&at=op:${kernel.rows[0]}/b15000`});
  assert.equal(await chosen(page), `op:${kernel.rows[0]}/b15000`);
  assert.ok((await labels(page)).length < 150);
  await page.focus('#tree');
  await page.keyboard.press('ArrowDown');
  assert.equal(await chosen(page), `op:${kernel.rows[0]}/b15001`);
  await page.done();
});
