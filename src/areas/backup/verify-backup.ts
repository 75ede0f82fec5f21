/** Reads a whole backup without a database, and checks each hash and count. */
import { isAbsent, type FileEntry } from '../../core/backup/file-entry.ts';
import { BackupError, type Manifest } from '../../core/backup/manifest.ts';
import { eachAtOnce } from '../../platform/base/each-at-once.ts';
import { readFileLines } from './file-list.ts';
import { FILES_AT_ONCE, type Vault } from './vault.ts';

export interface VerifyOptions {
  readonly signal: AbortSignal;
  /** Called with each fault. */
  readonly onFault: (text: string) => void;
}

export interface VerifyResult {
  readonly manifest: Manifest;
  readonly rows: number;
  readonly files: number;
  readonly faults: number;
}

const LINE_FEED = 0x0a;

/** Throws BackupError when the manifest can't be read. */
export async function verifyBackup(
  vault: Pick<Vault, 'readManifest' | 'readStream' | 'readFile'>,
  id: string,
  { signal, onFault }: VerifyOptions,
): Promise<VerifyResult> {
  const manifest = await vault.readManifest(id);
  let faults = 0;
  const tell = (error: unknown) => {
    if (!(error instanceof BackupError)) throw error;
    faults += 1;
    onFault(error.message);
  };
  let rows = 0;
  for (const table of manifest.tables) {
    signal.throwIfAborted();
    try {
      const found = await countRows(vault.readStream(id, `tables/${table.name}`, table));
      rows += found;
      if (found !== table.rows)
        throw new BackupError(`the table ${table.name} has ${found} rows, and not ${table.rows}`);
    } catch (error) {
      tell(error);
    }
  }
  let files = 0;
  try {
    await eachAtOnce(
      readFileLines(vault, id, manifest),
      FILES_AT_ONCE,
      async (line) => {
        if (isAbsent(line)) return;
        files += 1;
        await readWhole(vault, line).catch(tell);
      },
      signal,
    );
    signal.throwIfAborted();
    if (files !== manifest.files.count)
      throw new BackupError(`the list names ${files} files, and not ${manifest.files.count}`);
  } catch (error) {
    tell(error);
  }
  return { manifest, rows, files, faults };
}

async function countRows(source: AsyncIterable<Buffer>): Promise<number> {
  let rows = 0;
  for await (const bytes of source) {
    // A line feed within a value is written as \n.
    for (let at = bytes.indexOf(LINE_FEED); at >= 0; at = bytes.indexOf(LINE_FEED, at + 1)) rows += 1;
  }
  return rows;
}

async function readWhole(vault: Pick<Vault, 'readFile'>, entry: FileEntry): Promise<void> {
  for await (const piece of vault.readFile(entry)) void piece;
}
