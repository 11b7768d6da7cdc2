#!/usr/bin/env node
// Size of the HTML report and time until it can be used in headless Chromium, by number of bundles: as measured here, the
// median of some runs. Needs a build with all=1 and Chromium (tools/setup.sh test).
//
//   bench/html_speed.mjs [REPORT.html ...]     files of `explain --format html`; without: made-up reports of three sizes
import {mkdtempSync, rmSync, statSync, writeFileSync} from 'node:fs';
import {createRequire} from 'node:module';
import {tmpdir} from 'node:os';
import {dirname, join} from 'node:path';
import {fileURLToPath, pathToFileURL} from 'node:url';
import {pack} from '../tests/web/pack.mjs';
import {sampleReport, sizes} from '../tests/web/sample.mjs';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const build = process.env.BUILD ?? join(root, 'build');
const runs = 5;

const {chromium} = createRequire(join(build, 'web-test/package.json'))('playwright-core');
const folder = mkdtempSync(join(tmpdir(), 'sublane-speed-'));

function samples() {
  return Object.entries(sizes).map(([name, size]) => {
    const report = sampleReport(size, ['decode']);
    const bundles = report.steps[0].kernels.reduce((sum, kernel) => sum + kernel.bundles.length, 0);
    const file = join(folder, `${name}.html`);
    writeFileSync(file, pack(join(build, 'web/report.html'), report));
    return [`made up, ${report.steps[0].ops.length} ops, ${bundles} bundles`, file];
  });
}

async function timeOf(browser, file) {
  const page = await browser.newPage({viewport: {width: 1440, height: 900}});
  const begin = performance.now();
  await page.goto(pathToFileURL(file).href);
  await page.waitForSelector('html[data-ready]');
  // Usable: it has drawn, and answers a key with another view.
  await page.keyboard.press('2');
  await page.waitForSelector('#timeline');
  await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
  const usable = performance.now() - begin;
  const ready = Number(await page.getAttribute('html', 'data-ready'));
  await page.close();
  return {ready, usable};
}

const median = (values) => values.sort((a, b) => a - b)[Math.floor(values.length / 2)];

const browser = await chromium.launch({
  executablePath: process.env.SUBLANE_CHROMIUM ?? '/usr/bin/chromium',
  chromiumSandbox: false,
});
try {
  const given = process.argv.slice(2).map((file) => [file, file]);
  for (const [name, file] of given.length ? given : samples()) {
    const times = [];
    for (let i = 0; i < runs; ++i) times.push(await timeOf(browser, file));
    const megabytes = (statSync(file).size / 1e6).toFixed(2);
    const ready = Math.round(median(times.map((time) => time.ready)));
    const usable = Math.round(median(times.map((time) => time.usable)));
    console.log(`${name}: ${megabytes} MB, drawn after ${ready} ms, answers a key after ${usable} ms (measured)`);
  }
} finally {
  await browser.close();
  rmSync(folder, {recursive: true, force: true});
}
