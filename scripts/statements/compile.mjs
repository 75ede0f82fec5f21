/** Compiles the sources without checking their types: these may be stale, which is what this is for. */
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';

/** Returns the folder that the modules are in. */
export function compile(root, outDir) {
  fs.rmSync(outDir, { recursive: true, force: true });
  fs.mkdirSync(outDir, { recursive: true });
  // Node.js looks for the kind of a module no further up than node_modules.
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
