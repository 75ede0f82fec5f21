/**
 * Long texts on their way into the database. As one parameter, ten megabytes block the event loop for a tenth of a second
 * or more: they are cleaned, escaped, encoded and copied several times. So they are sent ahead in pieces, within the
 * transaction of the statement that joins them.
 */
import { run, statement, type Executor } from '../../platform/db/statement.ts';

/** UTF-16 units of a text that are given to the database at once: this takes about 5 ms, whatever the characters. */
export const TEXT_PIECE_CHARS = 256 * 1024;

/** Texts by column. */
export type Texts = Readonly<Record<string, string | null>>;

/** Column with a long text → the name of its pieces: two columns may have the same text. */
export type LongTexts = Readonly<Record<string, string>>;

/** Sends the long texts among `texts` ahead; `dropLongTexts` has to follow in the same transaction. */
export async function sendLongTexts(trx: Executor, ownerId: string, texts: Texts): Promise<LongTexts> {
  const names = new Map<string, string>();
  const long: Record<string, string> = {};
  for (const [column, text] of Object.entries(texts)) {
    if (!isLong(text)) continue;
    let name = names.get(text);
    if (name === undefined) {
      names.set(text, (name = column));
      let ordinal = 0;
      for (const piece of piecesOf(text))
        await run(trx, INSERT, { ownerId, name, ordinal: ordinal++, piece });
    }
    long[column] = name;
  }
  return long;
}

export async function dropLongTexts(trx: Executor, ownerId: string, long: LongTexts): Promise<void> {
  if (Object.keys(long).length > 0) await run(trx, DELETE, { ownerId });
}

export const isLong = (text: string | null): text is string =>
  text !== null && text.length > TEXT_PIECE_CHARS;

/** The whole text, in SQL. @param ownerId @param name each an expression */
export const longText = (ownerId: string, name: string): string =>
  `(select string_agg(p.piece, '' order by p.ordinal) from text_pieces p where p.owner_id = ${ownerId} and p.name = ${name})`;

/** Never cuts between the halves of a surrogate pair. */
function* piecesOf(text: string): Generator<string> {
  for (let start = 0; start < text.length;) {
    const end = start + TEXT_PIECE_CHARS;
    const isInPair = end < text.length && (text.charCodeAt(end - 1) & 0xfc00) === 0xd800;
    const next = isInPair ? end - 1 : end;
    yield text.slice(start, next);
    start = next;
  }
}

const INSERT = statement(
  'insert-text-piece',
  'insert into text_pieces (owner_id, name, ordinal, piece) values ($ownerId, $name, $ordinal, $piece)',
);

const DELETE = statement('delete-text-pieces', 'delete from text_pieces where owner_id = $ownerId');
