/** A disk in memory at one folder, which can be filled by using up its free space. */
import { execFileSync } from 'node:child_process';
import { statfsSync } from 'node:fs';

/** Room beyond what is used: hundreds of rounds, each of which stores some 10 MB, must not fill the disk by themselves. */
const ROOM_BYTES = 2 * 1024 ** 3;

export interface Disk {
  /** Fills the disk except for this much room. */
  fill(slackBytes: number): void;
  /** Gives the disk room, whether it was filled or its contents have grown. */
  free(): void;
  unmount(): void;
}

/** null where mounting is not allowed. */
export function mountDisk(folder: string): Disk | null {
  if (process.getuid?.() !== 0) return null;
  const mount = (options: string) =>
    execFileSync('mount', ['-t', 'tmpfs', '-o', options, 'tmpfs', folder], { stdio: 'pipe' });
  const usedBytes = () => {
    const { blocks, bfree, bsize } = statfsSync(folder);
    return (blocks - bfree) * bsize;
  };
  try {
    mount(`size=${ROOM_BYTES}`);
  } catch {
    return null;
  }
  return {
    fill(slackBytes) {
      try {
        mount(`remount,size=${usedBytes() + slackBytes}`);
      } catch {
        // More was written between the look and the mount; it stays as it was.
      }
    },
    free: () => void mount(`remount,size=${usedBytes() + ROOM_BYTES}`),
    unmount: () => void execFileSync('umount', ['--lazy', folder]),
  };
}
