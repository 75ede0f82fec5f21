/**
 * Joins the built modules into few files: `dist/bundle`, what the service, its commands, its reading processes and its threads run.
 * Each start loaded more than five hundred files of ours; see docs/decisions/0039-bundle.md. Packages stay outside. The modules
 * of `dist/` are what scripts, benchmarks and tests import.
 */
import { rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const FOLDER = 'dist/bundle';

rmSync(new URL(`../${FOLDER}`, import.meta.url), { recursive: true, force: true });
await build({
  absWorkingDir: ROOT,
  // The programs: no two may have the same name.
  entryPoints: ['src/main.ts', 'src/adapters/reading/child.ts', 'src/adapters/mail-auth/sender-worker.ts'],
  outdir: FOLDER,
  entryNames: '[name]',
  bundle: true,
  packages: 'external',
  // What is loaded late stays late, and what several programs need stands once.
  splitting: true,
  format: 'esm',
  platform: 'node',
  target: 'node20.19',
  // Traces name the lines of `src/`, by what is put before each program.
  inject: ['src/service/source-lines.ts'],
  sourcemap: 'linked',
  sourcesContent: false,
  logLevel: 'warning',
});
