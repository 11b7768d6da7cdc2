// The type checker over web/src, with the modules that the build brought.
import {spawnSync} from 'node:child_process';
import {cpSync, mkdtempSync, rmSync, symlinkSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {dirname, join} from 'node:path';
import {fileURLToPath} from 'node:url';

const web = join(dirname(fileURLToPath(import.meta.url)), '../../web');
const modules = process.env.SUBLANE_WEB_MODULES ?? join(web, 'node_modules');
const place = mkdtempSync(join(tmpdir(), 'sublane-web-'));
try {
  cpSync(join(web, 'src'), join(place, 'src'), {recursive: true});
  cpSync(join(web, 'tsconfig.json'), join(place, 'tsconfig.json'));
  symlinkSync(modules, join(place, 'node_modules'));
  const run = spawnSync(process.execPath, [join(modules, 'typescript/bin/tsc'), '--noEmit', '-p', place], {
    stdio: 'inherit',
  });
  process.exitCode = run.status ?? 1;
} finally {
  rmSync(place, {recursive: true, force: true});
}
