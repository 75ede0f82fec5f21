/**
 * The folder of the server's Unix socket. A user who can enter it is the database's superuser without a
 * password (see settings.ts), so it is always 0700 and owned by the server's user.
 */
import { createHash } from 'node:crypto';
import { chown, lstat, mkdir, rmdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { EmbeddedPostgresError } from './embedded-postgres-error.ts';
import { hasCode } from './file-system.ts';
import type { Identity } from './identity.ts';
import type { Location } from './location.ts';

/** A part of the socket's file name; there is no TCP port. */
export const SOCKET_PORT = 5432;

/** Bytes of a socket's path, without the closing NUL: `sun_path` has 108 on Linux and 104 on macOS and the BSDs. */
const MAX_SOCKET_PATH_BYTES = process.platform === 'linux' ? 107 : 103;

export interface SocketFolder {
  readonly path: string;
  /** True when the folder is outside of the database's own folder and must be removed after use. */
  readonly temporary: boolean;
}

/** The path of the server's socket in a folder. */
export function socketPath(folder: string): string {
  return join(folder, `.s.PGSQL.${SOCKET_PORT}`);
}

/** The run folder of the location, or, if that path is too long, a folder named by its hash in the place of temporary files. */
export function chooseSocketFolder(location: Location, identity: Identity): SocketFolder {
  if (fits(location.runFolder)) return { path: location.runFolder, temporary: false };
  const hash = createHash('sha256').update(location.runFolder).digest('hex').slice(0, 16);
  const name = `email-worker-${identity.uid}-${hash}`;
  // TMPDIR may be too long as well, or closed to another account.
  const parents = identity.kind === 'account' ? ['/tmp'] : [tmpdir(), '/tmp'];
  const path = parents.map((parent) => join(parent, name)).find(fits);
  if (path === undefined) throw new EmbeddedPostgresError('no path for its socket is short enough');
  return { path, temporary: true };
}

/**
 * Creates a temporary folder, or verifies that the existing one is ours. Every user can write to /tmp: a folder or link of that name that
 * belongs to another user would hand that user the database.
 */
export async function ensureSocketFolder(folder: SocketFolder, identity: Identity): Promise<void> {
  if (!folder.temporary) return;
  try {
    await mkdir(folder.path, { mode: 0o700 });
  } catch (error) {
    if (!hasCode(error, 'EEXIST')) throw error;
  }
  const found = await lstat(folder.path);
  const own = found.uid === identity.uid || found.uid === process.geteuid?.();
  if (!found.isDirectory() || !own || (found.mode & 0o077) !== 0) {
    throw new EmbeddedPostgresError(
      `${folder.path}, needed for its socket, is not a private folder of this user. ` +
        'Remove it, or use a shorter path for DATA_DIR',
    );
  }
  if (found.uid !== identity.uid) await chown(folder.path, identity.uid, identity.gid);
}

/** Removes a temporary folder; the server has removed its socket from it. */
export async function removeSocketFolder(folder: SocketFolder): Promise<void> {
  if (!folder.temporary) return;
  try {
    await rmdir(folder.path);
  } catch (error) {
    // Not empty after a server that was killed. The next start uses the folder again.
    if (!hasCode(error, 'ENOENT', 'ENOTEMPTY', 'EEXIST')) throw error;
  }
}

function fits(folder: string): boolean {
  return Buffer.byteLength(socketPath(folder)) <= MAX_SOCKET_PATH_BYTES;
}
