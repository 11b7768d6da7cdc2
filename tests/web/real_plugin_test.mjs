// The page of a program that was really compiled and executed: what the binary writes is what the page reads.
import assert from 'node:assert/strict';
import {spawnSync} from 'node:child_process';
import {mkdtempSync, readFileSync, rmSync, statSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {dirname, join} from 'node:path';
import {after, test} from 'node:test';
import {fileURLToPath} from 'node:url';
import {gunzipSync} from 'node:zlib';
import {key, number, openFile, painted, tabs, text} from './browser.mjs';

const root = join(dirname(fileURLToPath(import.meta.url)), '../..');
const binary = process.env.SUBLANE_BINARY ?? join(root, 'build/sublane');
const program = join(root, 'tests/report/stablehlo/mlp_softmax.mlir');
const folder = mkdtempSync(join(tmpdir(), 'sublane-real-'));
after(() => rmSync(folder, {recursive: true, force: true}));

function written(name, ...words) {
  const file = join(folder, name);
  const run = spawnSync(binary, [...words, '--format', 'html', '-o', file], {
    encoding: 'utf8',
    env: {...process.env, XDG_STATE_HOME: folder},
  });
  assert.equal(run.status, 0, run.stderr);
  const data = /octet-stream">([^<]*)</.exec(readFileSync(file, 'utf8'))[1];
  return {file, report: JSON.parse(gunzipSync(Buffer.from(data, 'base64')).toString())};
}

const sum = (list, value) => list.reduce((total, entry) => total + value(entry), 0);

test('explain: sums on the page are those of the run', async () => {
  const {file, report} = written('explain.html', 'explain', program, '--chip', 'v6e');
  const [step] = report.steps;
  assert.equal(step.rung, 'bundles');
  const bundles = sum(step.kernels, (kernel) => kernel.bundles.length);
  console.log(`${bundles} bundles, ${statSync(file).size} bytes`);
  const page = await openFile(file);
  assert.equal(Number(await page.getAttribute('#total', 'data-us')), step.total_us);
  for (const tab of tabs) {
    await page.keyboard.press(key(tab));
    assert.ok((await text(page, '#panel')).length > 10, tab);
  }
  await page.keyboard.press(key('ops'));
  assert.equal(number(await text(page, '#ops [data-sum] [data-key=cycles]')), step.cycles);
  await page.keyboard.press(key('bundles'));
  assert.equal(
    number(await text(page, '#kernels [data-sum] [data-key=cycles]')),
    sum(step.kernels, (kernel) => kernel.cycles),
  );
  // A kernel's cycles are its bundles', executions and waits.
  const kernel = step.kernels[0];
  assert.equal(number(await text(page, '#bundles [data-sum] [data-key=cycles]')), kernel.cycles);
  await page.keyboard.press(key('transfers'));
  const bytes = await page.getAttribute('#transfers [data-key=bytes] [data-total]', 'data-total');
  assert.equal(
    Number(bytes),
    sum(step.transfers, (transfer) => transfer.bytes),
  );
  await page.keyboard.press(key('flame'));
  assert.ok((await painted(page, '#flame')) > 1000 && (await painted(page, '#timeline')) > 1000);
  await page.keyboard.press(key('limits'));
  assert.equal((await page.$$('#limits [data-limit]')).length, step.limits.length);
  assert.equal((await page.$$('#units [data-unit]')).length, step.units.length);
  await page.keyboard.press(key('memory'));
  assert.ok((await painted(page, '#memory-hbm')) > 100);
  await page.done();
});

test('diff: the page opens with it, and its totals are the two runs', async () => {
  const {file, report} = written('diff.html', 'diff', program, '--chip', 'v6e', '--other-chip', 'v5e');
  const [step] = report.diff.steps;
  const page = await openFile(file);
  assert.equal(await page.getAttribute('#tab-diff', 'aria-selected'), 'true');
  assert.equal(Number(await page.getAttribute('#diff-total', 'data-before')), step.before.us);
  assert.equal(Number(await page.getAttribute('#diff-total', 'data-after')), step.after.us);
  assert.equal(number(await text(page, '#diff .count')), step.lines.length);
  await page.done();
});
