/** A disk in memory at one folder, which can be filled by using up its free space. */
import { execFileSync } from 'node:child_process';
import { statfsSync } from 'node:fs';

const SIZE_BYTES = 2 * 1024 ** 3;

export interface Disk {
  /** Leaves that much room. */
  fill(slackBytes: number): void;
  free(): void;
  unmount(): void;
}

/** null where mounting is not allowed. */
export function mountDisk(folder: string): Disk | null {
  if (process.getuid?.() !== 0) return null;
  const mount = (options: string) =>
    execFileSync('mount', ['-t', 'tmpfs', '-o', options, 'tmpfs', folder], { stdio: 'pipe' });
  try {
    mount(`size=${SIZE_BYTES}`);
  } catch {
    return null;
  }
  return {
    fill(slackBytes) {
      const { blocks, bfree, bsize } = statfsSync(folder);
      const used = (blocks - bfree) * bsize;
      try {
        mount(`remount,size=${used + slackBytes}`);
      } catch {
        // More was written between the look and the mount; it stays as it was.
      }
    },
    free: () => void mount(`remount,size=${SIZE_BYTES}`),
    unmount: () => void execFileSync('umount', ['--lazy', folder]),
  };
}
