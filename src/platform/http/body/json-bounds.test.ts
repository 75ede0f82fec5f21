import { expect, it } from 'vitest';
import { createHttpLimits } from '../connections/limits.ts';
import { readJsonWithLongStrings } from './json-long-strings.ts';

const limits = createHttpLimits();

/** Reads a body that arrives in pieces. Returns the error's text, or null, and the pieces that were read. */
async function read(pieces: readonly string[]) {
  let taken = 0;
  async function* source(): AsyncGenerator<Buffer, void, void> {
    for (const piece of pieces) {
      taken += 1;
      yield Buffer.from(piece);
    }
  }
  const error: unknown = await readJsonWithLongStrings(source(), {
    threshold: Infinity,
    maxTextBytes: limits.maxTextBytes,
    maxElements: limits.maxJsonElements,
    maxDepth: limits.maxJsonDepth,
    maxFields: limits.maxJsonFields,
    maxDecodedBytes: 0,
    folder: { write: () => Promise.reject(new Error('unused')) },
    placeholder: () => '',
  }).then(
    () => null,
    (thrown: unknown) => thrown,
  );
  return { text: (error as { text?: string } | null)?.text ?? null, taken };
}

const fields = (from: number, count: number) =>
  Array.from({ length: count }, (_, index) => `"unknown_${from + index}":1`).join(',');

it('an object of very many fields is refused at the field that is too much, before the rest of the body arrives', async () => {
  const rest = Array.from({ length: 40 }, (_, index) => `,${fields((index + 1) * 1000, 1000)}`);
  const found = await read([`{"to":"a@b.test",${fields(0, 998)}`, ...rest, '}']);
  expect(found).toEqual({ text: 'Die Anfrage ist ungültig: zu viele Felder in einem Objekt.', taken: 2 });
});

it('the fields of each object count for themselves', async () => {
  const full = `{${fields(0, 1000)}}`;
  expect(await read([`{"a":[${full},${full}],"b":${full}}`])).toMatchObject({ text: null });
  expect(await read([`{"a":[${full},{${fields(0, 1001)}}]}`])).toMatchObject({
    text: expect.stringContaining('Felder') as string,
  });
});
