import { execFileSync } from 'node:child_process';
import type { TestContext } from 'vitest';
import { makeTempFolder } from './temp-folder.ts';

/**
 * Runs `use` with the path of a mounted tmpfs of that size, so that a full disk is a real one. Skips the test with a printed reason if
 * mounting is not allowed.
 */
export async function withTinyDisk(
  context: TestContext,
  sizeBytes: number,
  use: (path: string) => Promise<void>,
): Promise<void> {
  const folder = await makeTempFolder();
  try {
    if (process.getuid?.() !== 0) context.skip('full disk: only root may mount a small disk');
    try {
      execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${sizeBytes}`, 'tmpfs', folder.path], {
        stdio: 'pipe',
      });
    } catch (error) {
      context.skip(`full disk: mounting a tmpfs is not possible here: ${String(error)}`);
    }
    try {
      await use(folder.path);
    } finally {
      execFileSync('umount', ['--lazy', folder.path]);
    }
  } finally {
    await folder.remove();
  }
}
