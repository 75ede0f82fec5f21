/**
 * Joins the built modules into a few files: `dist/bundle`, which the service, its commands, its reading processes and its threads run.
 * Before, each start loaded more than five hundred files of ours; see docs/decisions/0039-bundle.md. Packages stay outside. Scripts,
 * benchmarks and tests import the modules of `dist/`.
 */
import { rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const FOLDER = 'dist/bundle';

rmSync(new URL(`../${FOLDER}`, import.meta.url), { recursive: true, force: true });
await build({
  absWorkingDir: ROOT,
  // The programs: no two may have the same file name.
  entryPoints: [
    'src/main.ts',
    'src/connectors/reading/child.ts',
    'src/connectors/mail-auth/sender-worker.ts',
  ],
  outdir: FOLDER,
  entryNames: '[name]',
  bundle: true,
  packages: 'external',
  // Modules that are loaded late stay late, and code that several programs need is stored once.
  splitting: true,
  format: 'esm',
  platform: 'node',
  target: 'node20.19',
  // Stack traces name the lines of `src/`, because of code put before each program.
  inject: ['src/service/source-lines.ts'],
  sourcemap: 'linked',
  sourcesContent: false,
  logLevel: 'warning',
});
