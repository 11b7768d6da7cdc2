// A report opens: from the disk, without network, in any state of its data; totals are the data's.
import assert from 'node:assert/strict';
import {test} from 'node:test';
import {key, open, number, painted, tabs, text} from './browser.mjs';
import {bare, compilerOnly, evil, hostile, withDiff} from './odd_samples.mjs';
import {sampleReport, sizes} from './sample.mjs';

const small = sampleReport(sizes.small);
const sum = (list, value) => list.reduce((total, entry) => total + value(entry), 0);
const close = (shown, value) =>
  assert.ok(
    Math.abs(number(shown) - value) <= 0.006 * Math.max(1, Math.abs(value)) || Math.abs(number(shown) - value) < 0.06,
    `${shown} is not ${value}`,
  );

test('findings come first, with origin of their gain', async () => {
  const page = await open(small);
  assert.equal(await page.getAttribute('#tab-findings', 'aria-selected'), 'true');
  const cards = await page.$$eval('.card', (list) => list.map((card) => [card.dataset.rule, card.textContent]));
  assert.deepEqual(
    cards.map(([rule]) => rule),
    small.steps[0].findings.map((finding) => finding.rule),
  );
  small.steps[0].findings.forEach((finding, index) => {
    for (const part of [finding.what, finding.cure, ...finding.evidence])
      assert.ok(cards[index][1].includes(part), part);
    if (finding.edit) assert.ok(cards[index][1].includes(finding.edit));
    assert.ok(cards[index][1].includes(finding.gain_origin === 'simulated' ? 'sim' : 'assu'));
  });
  await page.done();
});

test('totals shown are totals of the data', async () => {
  const step = small.steps[0];
  const page = await open(small);
  close(await text(page, '#total'), step.total_us);
  assert.equal(Number(await page.getAttribute('#total', 'data-us')), step.total_us);
  assert.equal(number(await text(page, '[data-cycles]')), step.cycles);
  await page.keyboard.press(key('ops'));
  const shown = (name) => text(page, `#panel [data-sum] [data-key=${name}]`);
  assert.equal(number(await shown('cycles')), step.cycles);
  close(await shown('us'), step.total_us - step.launch_us);
  await page.keyboard.press(key('transfers'));
  assert.equal(
    Number(await page.getAttribute('#transfers [data-key=bytes] [data-total]', 'data-total')),
    sum(step.transfers, (transfer) => transfer.bytes),
  );
  assert.equal(
    number(await text(page, '#transfers [data-sum] [data-key=waited]')),
    sum(step.transfers, (transfer) => transfer.waited_cycles),
  );
  await page.keyboard.press(key('layouts'));
  assert.equal(
    Number(await page.getAttribute('#layouts [data-key=waste] [data-total]', 'data-total')),
    sum(step.buffers, (buffer) => Math.max(0, buffer.bytes - buffer.data_bytes)),
  );
  await page.keyboard.press(key('bundles'));
  assert.equal(
    number(await text(page, '#kernels [data-sum] [data-key=cycles]')),
    sum(step.kernels, (kernel) => kernel.cycles),
  );
  await page.done();
});

const states = {
  'two steps': small,
  diff: withDiff(small),
  'not executed': compilerOnly(small),
  bare: bare(),
  redacted: {...small, redacted: true},
  'without findings': {...small, steps: small.steps.map((step) => ({...step, findings: []}))},
  'without kernels': {
    ...small,
    steps: small.steps.map((step) => ({...step, kernels: [], ops: step.ops.map((op) => ({...op, kernel_id: null}))})),
  },
  'kernels without bundles': {
    ...small,
    steps: small.steps.map((step) => ({...step, kernels: step.kernels.map(({bundles, ...kernel}) => kernel)})),
  },
  nulls: {
    ...small,
    steps: small.steps.map((step) => ({
      ...step,
      error: null,
      memory: null,
      compiler_us: null,
      ops: step.ops.map((op) => ({
        ...op,
        part: null,
        layer: null,
        source: null,
        shape: null,
        memory: null,
        flops: null,
        error: null,
        class: null,
        kernel: null,
      })),
    })),
  },
  'every layer in a loop': {
    ...small,
    steps: small.steps.map((step) => ({
      ...step,
      ops: step.ops.map((op) => ({...op, layer: op.layer === null ? null : '*'})),
    })),
  },
};
for (const [name, report] of Object.entries(states)) {
  test(`all tabs: ${name}`, async () => {
    for (const scheme of report.diff ? ['light', 'dark'] : ['light']) {
      const page = await open(report, {scheme});
      for (const tab of tabs) {
        await page.keyboard.press(key(tab));
        assert.equal(await page.getAttribute(`#tab-${tab}`, 'aria-selected'), 'true');
        assert.ok((await text(page, '#panel')).length > 10, `${tab} is empty`);
      }
      await page.done();
    }
  });
}

test('every text may be hostile', async () => {
  const page = await open(hostile(withDiff(small)));
  for (const tab of tabs) {
    await page.keyboard.press(key(tab));
    if (await page.$('canvas')) await page.hover('canvas');
  }
  await page.keyboard.press('/');
  await page.keyboard.type('script');
  assert.ok((await text(page, '#results')).includes(evil));
  assert.equal(await page.evaluate(() => window.hacked), undefined);
  assert.equal(await page.$('img'), null);
  await page.done();
});

test('what is no report says so', async () => {
  for (const [report, words] of [
    [{...small, schema: 'sublane.explain/3'}, 'sublane.explain/3'],
    ['[1, 2', 'cannot be shown'],
    [{...small, steps: []}, 'no step'],
  ]) {
    const page = await open(report, {broken: true});
    await page.waitForSelector('.boot.error');
    assert.ok((await text(page, '.boot.error')).includes(words));
    await page.done();
  }
});

test('a hundred thousand bundles stay small and work', async () => {
  const report = sampleReport(sizes.large, ['decode']);
  const bundles = sum(report.steps[0].kernels, (kernel) => kernel.bundles.length);
  assert.ok(bundles >= 1e5);
  const page = await open(report);
  const bytes = await page.evaluate(() => performance.getEntriesByType('navigation')[0].decodedBodySize);
  assert.ok(bytes > 1e5 && bytes <= 5e6, `${bytes} bytes`);
  console.log(
    `${bundles} bundles: ${(bytes / 1e6).toFixed(2)} MB, usable after ${await page.getAttribute('html', 'data-ready')} ms`,
  );
  await page.keyboard.press(key('flame'));
  assert.ok((await painted(page, '#flame')) > 10000 && (await painted(page, '#timeline')) > 10000);
  await page.keyboard.press(key('bundles'));
  assert.ok((await page.$$('#bundles [role=row]')).length < 200);
  await page.done();
});
