/**
 * A part of the composition root: warns at the start about things that are more exposed than necessary. Nothing is
 * refused because of it.
 */
import { stat } from 'node:fs/promises';
import type { SecurityLog } from '../platform/base/security-log.ts';
import { isLoopback } from '../core/server-url.ts';

export interface OpenListener {
  readonly protocol: 'http' | 'lmtp' | 'metrics' | 'smtp';
  /** The address that was bound. */
  readonly address: string;
  readonly tls: boolean;
  readonly login: boolean;
}

/** Logs a listener that other machines reach without TLS or without a log-in. */
export function noteOpenListener(security: SecurityLog, listener: OpenListener): void {
  const { protocol, address, tls, login } = listener;
  const missing = [...(tls ? [] : ['tls']), ...(login ? [] : ['login'])];
  if (missing.length > 0 && !isLoopback(address))
    security.note('listener.open', { protocol, address, missing });
}

/** Reading or writing by the group or by others; passing through a folder does not count. */
const OPEN_TO_OTHERS = 0o066;

/** Logs those of the files and folders that other users of the machine can read; a missing one is not worth a warning. */
export async function noteReadableFiles(security: SecurityLog, paths: readonly string[]): Promise<void> {
  for (const file of await findReadableFiles(paths)) security.note('file.readable', file);
}

/** Those that other users of the machine can read or write, with their rights in octal digits. */
export async function findReadableFiles(
  paths: readonly string[],
): Promise<readonly { readonly path: string; readonly mode: string }[]> {
  // Windows has other rights, and Node.js makes up the mode bits there.
  if (process.platform === 'win32') return [];
  const found: { readonly path: string; readonly mode: string }[] = [];
  for (const path of paths) {
    const mode = await readMode(path);
    if (mode === null || (mode & OPEN_TO_OTHERS) === 0) continue;
    found.push({ path, mode: (mode & 0o777).toString(8).padStart(4, '0') });
  }
  return found;
}

/** null when it does not exist. */
async function readMode(path: string): Promise<number | null> {
  try {
    return (await stat(path)).mode;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null;
    throw error;
  }
}
