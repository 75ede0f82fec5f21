/** Compiles the sources without checking their types: the generated types may be stale, and this run is to renew them. */
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';

/** Returns the folder with the compiled modules. */
export function compile(root, outDir) {
  fs.rmSync(outDir, { recursive: true, force: true });
  fs.mkdirSync(outDir, { recursive: true });
  // Node.js looks for the module kind no further up than node_modules.
  fs.writeFileSync(path.join(outDir, 'package.json'), '{ "type": "module" }\n');
  const tsc = path.join(root, 'node_modules', 'typescript', 'bin', 'tsc');
  const { status, stdout } = spawnSync(
    process.execPath,
    [tsc, '-p', 'tsconfig.build.json', '--noCheck', '--incremental', 'false', '--outDir', outDir],
    { cwd: root, encoding: 'utf8' },
  );
  if (status !== 0) throw new Error(`the sources could not be compiled:\n${stdout}`);
  return outDir;
}
