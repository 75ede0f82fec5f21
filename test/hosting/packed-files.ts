/** The files that `npm pack` puts into the package. */
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

export const ROOT = fileURLToPath(new URL('../../', import.meta.url));

let listed: Promise<readonly string[]> | null = null;

/** Paths below the root, without the lock file, which exists only while npm packs. The build is used as it is. npm is asked once. */
export function listPackedFiles(): Promise<readonly string[]> {
  return (listed ??= list());
}

async function list(): Promise<readonly string[]> {
  const args = ['pack', '--dry-run', '--json', '--ignore-scripts'];
  const { stdout } = await promisify(execFile)('npm', args, { cwd: ROOT });
  const [packed] = JSON.parse(stdout) as [{ files: { path: string }[] }];
  return packed.files.map((file) => file.path).sort();
}
