/**
 * Finds the files of emails at the paths of an import. A folder is searched with everything in it:
 * - a Maildir (a folder with `cur` or `new`): every file of both, and its subfolders (Maildir++: `.Sent`, `.a.b`);
 * - any other folder: `.eml` files, and files that begin as an mbox does; other files are left alone.
 *
 * A path given by the operator may be a symbolic link; a link inside a folder is not followed, as it may lead anywhere or back. Pipes,
 * sockets and devices are not opened.
 *
 * The name of a folder or an mbox file shows its purpose, and that applies to everything in it (special-folder.ts). An operator who names a
 * folder of junk or trash wants its contents.
 */
import { createHash } from 'node:crypto';
import type { BigIntStats, Dirent } from 'node:fs';
import { lstat, opendir, realpath, stat } from 'node:fs/promises';
import { hostname } from 'node:os';
import path from 'node:path';
import type { ListedFile, MailFile } from '../../areas/import/import-ports.ts';
import { specialFolderOf, type SpecialFolder } from '../../core/mailbox/special-folder.ts';
import { openRegular } from './open-regular.ts';
import { isMboxStart } from '../../core/mbox/split-mbox.ts';

/** Nesting depth of folders; real ones have a handful of levels. */
const MAX_DEPTH = 64;
/** Enough to recognise an mbox, or a message, by its beginning, in bytes. */
const BEGINNING_BYTES = 1024;

export async function* listMailFiles(paths: readonly string[]): AsyncGenerator<ListedFile> {
  for (const named of paths) {
    try {
      const real = await realpath(named);
      const stats = await stat(real, { bigint: true });
      const use = specialFolderOf(path.basename(path.resolve(named))) ?? specialFolderOf(path.basename(real));
      const wanted = use === 'junk' || use === 'trash' ? null : use;
      if (stats.isDirectory()) yield* listFolder(real, 0, wanted);
      else if (stats.isFile()) yield await listNamed(real, stats, wanted);
      else yield unusable(named, 'is neither a file nor a folder');
    } catch (error) {
      const isMissing = error instanceof Error && 'code' in error && error.code === 'ENOENT';
      yield unusable(named, isMissing ? 'there is no such file or folder' : reasonOf(error));
    }
  }
}

async function* listFolder(
  folder: string,
  depth: number,
  use: SpecialFolder | null,
): AsyncGenerator<ListedFile> {
  if (depth > MAX_DEPTH) {
    yield unusable(folder, `lies more than ${MAX_DEPTH} folders deep`);
    return;
  }
  const subfolders: string[] = [];
  const links: string[] = [];
  const isMaildir = await hasFolder(folder, 'cur', 'new');
  try {
    for await (const entry of await opendir(folder, { bufferSize: 256 })) {
      const found = path.join(folder, entry.name);
      if (entry.isDirectory()) subfolders.push(entry.name);
      else if (entry.isSymbolicLink()) links.push(found);
      else if (!isMaildir && entry.isFile()) yield* listEntry(found, entry, use);
    }
  } catch (error) {
    yield unusable(folder, reasonOf(error));
  }
  for (const link of links) yield unusable(link, 'is a symbolic link, which is not followed');
  if (isMaildir) {
    // In this order: a mail program moves emails from `new` to `cur`, so none is missed.
    for (const name of ['new', 'cur'])
      if (subfolders.includes(name)) yield* listMaildir(path.join(folder, name), use);
  }
  for (const name of subfolders.sort()) {
    if (isMaildir && MAILDIR_FOLDERS.has(name)) continue;
    yield* listFolder(path.join(folder, name), depth + 1, use ?? specialFolderOf(name));
  }
}

/** `tmp` holds mail that is not delivered yet. */
const MAILDIR_FOLDERS: ReadonlySet<string> = new Set(['cur', 'new', 'tmp']);

async function* listMaildir(folder: string, use: SpecialFolder | null): AsyncGenerator<ListedFile> {
  try {
    for await (const entry of await opendir(folder, { bufferSize: 1024 })) {
      const found = path.join(folder, entry.name);
      // Maildir: files whose names begin with a dot are not emails.
      if (entry.name.startsWith('.') || entry.isDirectory()) continue;
      yield entry.isFile()
        ? await describe(found, 'message', isDraft(entry.name) ? 'unsent' : use)
        : unusable(found, 'is not a plain file, and not followed');
    }
  } catch (error) {
    yield unusable(folder, reasonOf(error));
  }
}

async function* listEntry(
  found: string,
  entry: Dirent,
  use: SpecialFolder | null,
): AsyncGenerator<ListedFile> {
  if (entry.name.toLowerCase().endsWith('.eml')) yield await describe(found, 'message', use);
  else {
    try {
      if (isMboxStart(await readBeginning(found))) {
        yield await describe(found, 'mbox', use ?? specialFolderOf(entry.name));
      }
    } catch (error) {
      yield unusable(found, reasonOf(error));
    }
  }
}

/** The operator named it as an email; still, a picture that was named by mistake is not recorded. */
async function listNamed(file: string, stats: BigIntStats, use: SpecialFolder | null): Promise<ListedFile> {
  const beginning = await readBeginning(file);
  if (isMboxStart(beginning)) return toListed(file, 'mbox', stats, use);
  if (!LOOKS_LIKE_MESSAGE.test(beginning.toString('latin1')) && !file.toLowerCase().endsWith('.eml')) {
    return unusable(file, 'is neither an email nor an mbox file');
  }
  // Unlike the name of an mbox file, that of an email is not the name of a folder, so it shows no purpose.
  return toListed(file, 'message', stats, null);
}

/** RFC 5322 §2.2: the name of a field and a colon, after a byte order mark (UTF-8) if an editor wrote one. */
const LOOKS_LIKE_MESSAGE = /^(?:\u00ef\u00bb\u00bf)?\s*[!-9;-~]{1,100}[ \t]*:/;

async function readBeginning(file: string): Promise<Buffer> {
  const handle = await openRegular(file);
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(BEGINNING_BYTES), 0, BEGINNING_BYTES, 0);
    return buffer.subarray(0, bytesRead);
  } finally {
    await handle.close();
  }
}

async function describe(
  file: string,
  format: MailFile['format'],
  use: SpecialFolder | null,
): Promise<ListedFile> {
  try {
    return toListed(file, format, await lstat(file, { bigint: true }), use);
  } catch (error) {
    return unusable(file, reasonOf(error));
  }
}

/**
 * The key contains no name: mail programs rename files in a Maildir to change their flags. An mbox file grows, and a part that is already
 * imported is recognised by its bytes.
 */
function toListed(
  file: string,
  format: MailFile['format'],
  stats: BigIntStats,
  use: SpecialFolder | null,
): ListedFile {
  const { dev, ino, size, mtimeNs } = stats;
  const version = format === 'message' ? [size, mtimeNs] : [];
  return {
    kind: 'file',
    file: {
      path: file,
      format,
      sizeBytes: Number(size),
      modifiedAt: new Date(Number(mtimeNs / 1_000_000n)),
      isRead: format === 'message' ? readMarkOf(file) : null,
      use,
      key: createHash('sha256')
        .update([hostname(), dev, ino, ...version].join('\n'))
        .digest('hex'),
    },
  };
}

/** Maildir: the flag `D`. */
// Input: at most 255 characters, the name of a file.
const isDraft = (name: string): boolean => /:2,[^:,]*D[^:]*$/.test(name);

/** Maildir: mail that no program has opened yet is in `new`; names in `cur` end with `:2,` and flags. */
function readMarkOf(file: string): boolean | null {
  const folder = path.basename(path.dirname(file));
  if (folder !== 'new' && folder !== 'cur') return null;
  // Input: at most 255 characters, the name of a file.
  return folder === 'cur' && /:2,[^:,]*S[^:]*$/.test(path.basename(file));
}

async function hasFolder(folder: string, ...names: readonly string[]): Promise<boolean> {
  for (const name of names) {
    const found = await lstat(path.join(folder, name)).catch(() => null);
    if (found?.isDirectory() === true) return true;
  }
  return false;
}

function unusable(file: string, reason: string): ListedFile {
  return { kind: 'unusable', path: file, reason };
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
