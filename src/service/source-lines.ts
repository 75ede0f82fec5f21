/**
 * Names the lines of `src/` in stack traces; scripts/bundle.mjs puts it before each program. `node --enable-source-maps`
 * would do the same, but it reads the maps of all files at the start and keeps them: 8 to 28 MB of an idle service. Here
 * a map is read when a stack trace first leads through its file.
 */
import { readFileSync } from 'node:fs';
import { SourceMap } from 'node:module';
import { fileURLToPath } from 'node:url';

const FOLDER = new URL('.', import.meta.url).href;
const PLACE = /(file:\/\/[^\s:]+):(\d{1,9}):(\d{1,9})/;

/** null: the file has none. */
const maps = new Map<string, SourceMap | null>();

Error.prepareStackTrace = (error, frames) =>
  [headOf(error), ...frames.map((frame) => `    at ${toSource(String(frame))}`)].join('\n');

/** An error may have a message that throws when it is read. */
function headOf(error: Error): string {
  try {
    return Error.prototype.toString.call(error);
  } catch {
    return 'Error';
  }
}

function toSource(frame: string): string {
  return frame.replace(PLACE, (place: string, file: string, line: string, column: string) => {
    const origin = mapOf(file)?.findOrigin(Number(line), Number(column));
    if (origin === undefined || !('fileName' in origin)) return place;
    return `${fileURLToPath(new URL(origin.fileName, file))}:${origin.lineNumber}:${origin.columnNumber}`;
  });
}

function mapOf(file: string): SourceMap | null {
  if (!file.startsWith(FOLDER)) return null;
  const known = maps.get(file);
  if (known !== undefined) return known;
  const map = readMap(file);
  maps.set(file, map);
  return map;
}

/** The reported error matters more than the reason why its map can't be read. */
function readMap(file: string): SourceMap | null {
  try {
    return new SourceMap(
      JSON.parse(readFileSync(new URL(`${file}.map`), 'utf8')) as ConstructorParameters<typeof SourceMap>[0],
    );
  } catch {
    return null;
  }
}
