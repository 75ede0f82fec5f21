/** The list of the files of a backup, as a vault stores it. */
import { parseFileLine, type FileLine } from '../../core/backup/file-entry.ts';
import type { Manifest } from '../../core/backup/manifest.ts';
import type { Vault } from './vault.ts';

/** In the order of the paths. Throws BackupError where it is damaged. */
export async function* readFileLines(
  vault: Pick<Vault, 'readStream'>,
  id: string,
  { files }: Manifest,
): AsyncGenerator<FileLine> {
  for await (const line of linesOf(vault.readStream(id, 'files', files))) yield parseFileLine(line);
}

const LINE_FEED = 0x0a;

/** Lines without their line ends; the last line has one too. */
async function* linesOf(source: AsyncIterable<Buffer>): AsyncGenerator<string> {
  let rest: Buffer = Buffer.alloc(0);
  for await (const chunk of source) {
    const bytes = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    let start = 0;
    for (let end = bytes.indexOf(LINE_FEED); end >= 0; end = bytes.indexOf(LINE_FEED, start)) {
      yield bytes.toString('utf8', start, end);
      start = end + 1;
    }
    rest = bytes.subarray(start);
  }
  if (rest.length > 0) yield rest.toString();
}
