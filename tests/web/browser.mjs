// Opens reports in headless Chromium, as a file on disk, and notes what a page must never do: ask the network, complain
// on the console, throw.
import assert from 'node:assert/strict';
import {existsSync, mkdtempSync, rmSync, writeFileSync} from 'node:fs';
import {createRequire} from 'node:module';
import {tmpdir} from 'node:os';
import {dirname, join} from 'node:path';
import {fileURLToPath, pathToFileURL} from 'node:url';
import {after} from 'node:test';
import {pack} from './pack.mjs';

const root = join(dirname(fileURLToPath(import.meta.url)), '../..');
const modules = process.env.SUBLANE_WEB_MODULES ?? join(root, 'build/web-test/node_modules');
export const template = process.env.SUBLANE_WEB_TEMPLATE ?? join(root, 'build/web/report.html');
const program = process.env.SUBLANE_CHROMIUM ?? '/usr/bin/chromium';

let browser;
let folder;
let count = 0;

async function start() {
  if (browser) return;
  if (!existsSync(program))
    throw new Error(`${program} is not there. Run tools/setup.sh test, or set SUBLANE_CHROMIUM`);
  const {chromium} = createRequire(join(modules, '../package.json'))('playwright-core');
  browser = await chromium.launch({executablePath: program, chromiumSandbox: false});
  folder = mkdtempSync(join(tmpdir(), 'sublane-page-'));
}

after(async () => {
  await browser?.close();
  if (folder) rmSync(folder, {recursive: true, force: true});
});

/** Writes the page and opens it; `text` instead of a report: that very file. */
export async function open(report, options = {}) {
  await start();
  const file = join(folder, `${++count}.html`);
  writeFileSync(file, options.text ?? pack(template, report));
  return openFile(file, options);
}

export async function openFile(file, options = {}) {
  await start();
  const context = await browser.newContext({
    colorScheme: options.scheme ?? 'light',
    viewport: {width: options.width ?? 1440, height: options.height ?? 900},
  });
  const page = await context.newPage();
  const faults = [];
  page.on('console', (message) => faults.push(`console ${message.type()}: ${message.text()}`));
  page.on('pageerror', (error) => faults.push(`error: ${error.stack}`));
  page.on('request', (request) => {
    if (request.url() !== pathToFileURL(file).href) faults.push(`request: ${request.url()}`);
  });
  page.on('dialog', (dialog) => {
    faults.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  await page.goto(pathToFileURL(file).href + (options.hash ?? ''));
  if (!options.broken) await page.waitForSelector('html[data-ready]', {timeout: 30000});
  return Object.assign(page, {
    faults,
    done: async () => {
      assert.deepEqual(faults, []);
      await context.close();
    },
  });
}

export const tabs = [
  'findings',
  'flame',
  'ops',
  'limits',
  'memory',
  'transfers',
  'layouts',
  'bundles',
  'diff',
  'about',
];
export const key = (tab) => String((tabs.indexOf(tab) + 1) % 10);

/** How many pixels of a canvas are not background. */
export const painted = (page, selector) =>
  page.$eval(selector, (canvas) => {
    const {data} = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
    let count = 0;
    for (let i = 3; i < data.length; i += 4) if (data[i]) count += 1;
    return count;
  });
export const picture = (page, selector) => page.$eval(selector, (canvas) => canvas.toDataURL());
export const text = (page, selector) =>
  page.$eval(selector, (element) => element.textContent.replace(/\s+/g, ' ').trim());
export const number = (shown) =>
  Number(
    shown
      .replace(/[, ]/g, '')
      .replace(/\u2212/g, '-')
      .replace(/[^0-9.eE+-].*$/, ''),
  );
