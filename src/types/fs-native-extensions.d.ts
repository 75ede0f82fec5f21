/** The part of `fs-native-extensions` that is used here; the package has no types of its own. */
declare module 'fs-native-extensions' {
  /**
   * Locks the whole file exclusively: an open-file-description lock on Linux, flock(2) on macOS. The kernel releases
   * it when the descriptor is closed, also by the death of the process. False when another process holds it.
   */
  export function tryLock(fd: number): boolean;
}
