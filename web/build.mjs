// Bundles src/ into one HTML file with a placeholder for the data: node build.mjs OUT.html
import {createRequire} from 'node:module';
import {existsSync, readFileSync, readdirSync, writeFileSync} from 'node:fs';
import {dirname, join} from 'node:path';
import {fileURLToPath} from 'node:url';

const here = dirname(fileURLToPath(import.meta.url));
const out = process.argv[2] ?? 'report.html';
// SUBLANE_WEB_MODULES: node_modules elsewhere, so that a build leaves the tree as it is.
const modules = process.env.SUBLANE_WEB_MODULES ?? join(here, 'node_modules');
const {build} = createRequire(join(modules, '..', 'package.json'))('esbuild');

/** The licences of what is inlined travel with it. */
function notices() {
  const dependencies = Object.keys(JSON.parse(readFileSync(join(here, 'package.json'), 'utf8')).dependencies);
  const lock = JSON.parse(readFileSync(join(here, 'package-lock.json'), 'utf8')).packages;
  const inlined = new Set();
  const visit = (name) => {
    const entry = lock[`node_modules/${name}`];
    if (!entry || inlined.has(name) || name === 'esbuild') return;
    inlined.add(name);
    Object.keys(entry.dependencies ?? {}).forEach(visit);
  };
  dependencies.forEach(visit);
  return [...inlined]
    .sort()
    .map((name) => {
      const file = readdirSync(join(modules, name)).find((entry) => /^licen[cs]e/i.test(entry));
      const text = file ? readFileSync(join(modules, name, file), 'utf8').trim() : lock[`node_modules/${name}`].license;
      return `${name} ${lock[`node_modules/${name}`].version}\n${text}`;
    })
    .join('\n\n')
    .replaceAll('--', '- -')
    .replace(/https?:\/\//g, '');
}

const common = {
  bundle: true,
  minify: true,
  write: false,
  charset: 'ascii',
  legalComments: 'none',
  logLevel: 'warning',
  nodePaths: [modules],
};
const script = await build({
  ...common,
  entryPoints: [join(here, 'src/main.tsx')],
  format: 'iife',
  target: 'es2022',
  jsx: 'automatic',
  jsxImportSource: 'preact',
  define: {'process.env.NODE_ENV': '"production"'},
});
const style = await build({...common, entryPoints: [join(here, 'src/style/style.css')]});
const inline = (text, tag) => text.replaceAll(`</${tag}`, `<\\/${tag}`).replaceAll('<!--', '<\\!--').trim();

const html = readFileSync(join(here, 'src/page.html'), 'utf8')
  .replace('{{notices}}', () => notices())
  .replace('{{style}}', () => inline(style.outputFiles[0].text, 'style'))
  .replace('{{script}}', () => inline(script.outputFiles[0].text, 'script'));
if (html.split('{{data}}').length !== 2) throw new Error('the page needs exactly one {{data}}, where the report goes');
if (/https?:\/\//.test(html.replaceAll('http://www.w3.org/', '')))
  throw new Error('the page names an address outside of itself');
if (!existsSync(out) || readFileSync(out, 'utf8') !== html) writeFileSync(out, html);
console.log(`web: ${out}, ${(html.length / 1024).toFixed(0)} KiB`);
