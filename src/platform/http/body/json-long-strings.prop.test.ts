import { isUtf8 } from 'node:buffer';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Content, SpoolFolder } from '../../files/file-ports.ts';
import { ServiceError } from '../../../core/errors.ts';
import { readJsonWithLongStrings, type JsonWithLongStrings } from './json-long-strings.ts';
import { createHttpLimits } from '../connections/limits.ts';
import { parseJson } from './parse-json.ts';
import { readSendBody } from '../../../areas/send/send-body.ts';
import { runs } from '../../../../test/helpers/runs.ts';

type Bytes = Buffer<ArrayBufferLike>;

const limits = createHttpLimits();

describe('readJsonWithLongStrings', () => {
  it('agrees with JSON.parse for any body, cut anywhere, with any threshold', async () => {
    await fc.assert(
      fc.asyncProperty(bodies, chunkLengths, fc.nat({ max: 60 }), async (body, lengths, threshold) => {
        expect(await outcome(() => readStreamed(body, lengths, threshold))).toEqual(
          await outcome(async () => readWhole(body)),
        );
      }),
      { numRuns: runs(3000) },
    );
  });

  it('agrees for bodies that were damaged on the way', async () => {
    await fc.assert(
      fc.asyncProperty(
        bodies,
        chunkLengths,
        fc.nat({ max: 60 }),
        fc.array(damages, { minLength: 1, maxLength: 3 }),
        async (whole, lengths, threshold, damage) => {
          const body = damage.reduce((bytes, apply) => apply(bytes), whole);
          expect(await outcome(() => readStreamed(body, lengths, threshold))).toEqual(
            await outcome(async () => readWhole(body)),
          );
        },
      ),
      { numRuns: runs(3000) },
    );
  });
});

// ---------------------------------------------------------------- both ways

async function readStreamed(body: Buffer, lengths: readonly number[], threshold: number): Promise<unknown> {
  const files = new Map<string, Buffer>();
  const folder: SpoolFolder = {
    async write(source) {
      const parts: Buffer[] = [];
      for await (const part of source) parts.push(Buffer.from(part));
      const path = String(files.size);
      files.set(path, Buffer.concat(parts));
      return { kind: 'file', path, sizeBytes: Buffer.concat(parts).length };
    },
    adopt: () => Promise.reject(new Error('unused')),
    remove: async () => {},
  };
  let count = 0;
  const json = await readJsonWithLongStrings(inChunks(body, lengths), {
    threshold,
    maxTextBytes: limits.maxTextBytes,
    maxElements: limits.maxJsonElements,
    maxDepth: limits.maxJsonDepth,
    maxFields: limits.maxJsonFields,
    maxDecodedBytes: limits.maxAttachmentBytes,
    folder,
    placeholder: () => `placeholder${count++}`,
  });
  return comparable(json, (content) => (content.kind === 'file' ? files.get(content.path)! : content.bytes));
}

function readWhole(body: Buffer): unknown {
  if (!isUtf8(body)) throw new ServiceError('invalid_json');
  const value = parseJson(body.toString('utf8').replace(/^\ufeff/, ''));
  return comparable({ value, longStrings: new Map() }, (content) => {
    if (content.kind !== 'bytes') throw new Error('no files here');
    return content.bytes;
  });
}

function comparable(json: JsonWithLongStrings, bytesOf: (content: Content) => Buffer): unknown {
  const request = readSendBody(
    { ...json, requireRead: () => undefined, requireAdmin: () => undefined },
    limits,
  );
  return {
    ...request,
    attachments: request.attachments.map((a) => ({
      ...a,
      content: bytesOf(a.content as Content).toString('hex'),
    })),
  };
}

async function outcome(read: () => Promise<unknown>): Promise<unknown> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof ServiceError) return `${error.code}: ${error.text}`;
    throw error;
  }
}

async function* inChunks(body: Buffer, lengths: readonly number[]): AsyncGenerator<Buffer> {
  for (let at = 0, turn = 0; at < body.length; turn++) {
    const length = lengths[turn % lengths.length]!;
    // A copy that is overwritten afterwards, as a network buffer is.
    const chunk = Buffer.from(body.subarray(at, at + length));
    yield chunk;
    chunk.fill('"');
    at += length;
  }
}

// ---------------------------------------------------------------- bodies

const chunkLengths = fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 5 });

const base64 = fc.uint8Array({ maxLength: 60 }).map((bytes) => Buffer.from(bytes).toString('base64'));
const wrapped = base64.map((text) => text.replace(/(.{8})/g, '$1\r\n'));
const contents = fc.oneof(base64, wrapped, fc.string({ unit: 'binary', maxLength: 30 }), fc.constant('QUJ'));

/** JSON with escapes where none are needed, as some encoders write it. */
function toEscapedJson(text: string, escapes: readonly boolean[]): string {
  const characters = Array.from({ length: text.length }, (_, index) => text[index]!);
  const parts = characters.map((character, index) => {
    if (escapes[index % escapes.length] === true) {
      return character === '/' ? '\\/' : `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
    }
    return JSON.stringify(character).slice(1, -1);
  });
  return `"${parts.join('')}"`;
}

const literal = (text: fc.Arbitrary<string>): fc.Arbitrary<string> =>
  fc
    .tuple(text, fc.array(fc.boolean(), { minLength: 1, maxLength: 7 }))
    .map(([value, escapes]) => toEscapedJson(value, escapes));

const blank = fc.constantFrom('', ' ', '\n', '\t \r\n');
const pair = (key: fc.Arbitrary<string>, value: fc.Arbitrary<string>): fc.Arbitrary<string> =>
  fc.tuple(blank, key, blank, blank, value, blank).map(([a, k, b, c, v, d]) => `${a}${k}${b}:${c}${v}${d}`);
const object = (pairs: fc.Arbitrary<readonly string[]>): fc.Arbitrary<string> =>
  pairs.map((list) => `{${list.join(',')}}`);

const attachment = object(
  fc.tuple(
    pair(literal(fc.constant('filename')), literal(fc.constantFrom('a.txt', 'content', 'x"\\"'))),
    pair(literal(fc.constantFrom('content', 'content', 'content', 'content_type')), literal(contents)),
    pair(literal(fc.constantFrom('content', 'content_type', 'content_type')), literal(contents)),
  ),
);

const bodies = fc
  .tuple(
    fc.constantFrom('', '', '', '\ufeff'),
    object(
      fc.tuple(
        fc.constant('"to":"a@example.com"'),
        pair(literal(fc.constant('subject')), literal(fc.constantFrom('s', 'content', 'Grüße'))),
        pair(fc.constantFrom('"text_body"', '"html_body"', '"content"'), literal(contents)),
        pair(
          fc.constant('"attachments"'),
          fc.array(attachment, { maxLength: 3 }).map((list) => `[${list.join(',')}]`),
        ),
      ),
    ),
  )
  .map(([mark, text]): Bytes => Buffer.from(mark + text, 'utf8'));

const damages: fc.Arbitrary<(body: Bytes) => Bytes> = fc
  .tuple(
    fc.constantFrom('cut', 'replace', 'insert', 'remove'),
    fc.double({ min: 0, max: 1, noNaN: true }),
    fc.constantFrom(0x22, 0x5c, 0x3a, 0x0a, 0x00, 0x7b, 0x5d, 0x2c, 0x80, 0xc3, 0xff, 0x41, 0x75),
  )
  .map(([kind, position, byte]) => (body: Buffer) => {
    const at = Math.floor(position * body.length);
    const [head, tail] = [body.subarray(0, at), body.subarray(at)];
    if (kind === 'cut') return Buffer.from(head);
    if (kind === 'insert') return Buffer.concat([head, Buffer.from([byte]), tail]);
    if (kind === 'remove') return Buffer.concat([head, tail.subarray(1)]);
    return Buffer.concat([head, Buffer.from([byte]), tail.subarray(1)]);
  });
