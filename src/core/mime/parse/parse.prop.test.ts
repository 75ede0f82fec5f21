import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { draftArbitrary, filesInOrder } from '../../../../test/helpers/arbitrary/draft.ts';
import { normaliseMessageId, type MessageId } from '../../message/message-id.ts';
import { EML_FIXTURES } from '../../../../test/helpers/eml-fixtures.ts';
import { composeMessage } from '../compose/compose.ts';
import { displayFilename } from '../text/filename.ts';
import { htmlToText } from '../text/html-to-text.ts';
import { MessageLimitError } from './message-limit-error.ts';
import { createMessageParser, parseMessage } from './parse.ts';
import type { ParsedMessage } from './parsed-message.ts';
import { decodeTransfer } from './transfer-decoding.ts';
import { expectCpuBelow } from '../../../../test/readers/cpu-time.ts';
import { runs } from '../../../../test/helpers/runs.ts';

const FIXTURES = EML_FIXTURES.map(({ raw }) => raw);

const fixtureArbitrary = fc.constantFrom(...FIXTURES);

const withLf = (text: string): string => text.replace(/\r\n?/g, '\n').replace(/\n+$/, '');

/** Lists with half of a quoted local part are ambiguous; they are not compared. */
const whereQuotable = (given: readonly MessageId[], read: readonly MessageId[]): readonly MessageId[] =>
  given.every((id) => id.split('"').length % 2 === 1) ? read : given;

/** In the form in which they are compared, without repeats. */
const normal = (ids: readonly MessageId[]) => [...new Set(ids.map(normaliseMessageId))];

/** The message that was read, whether a limit was exceeded or not. */
function read(raw: Buffer, parse: (raw: Buffer) => ParsedMessage = parseMessage): ParsedMessage {
  try {
    return parse(raw);
  } catch (error) {
    if (error instanceof MessageLimitError) return error.partial;
    throw error;
  }
}

function readInChunks(raw: Buffer, sizes: readonly number[]): ParsedMessage {
  const parser = createMessageParser();
  for (let at = 0, turn = 0; at < raw.length; turn++) {
    const size = sizes[turn % sizes.length]!;
    // The same memory for every chunk, as in a reader of files.
    const chunk = Buffer.from(raw.subarray(at, at + size));
    parser.write(chunk);
    chunk.fill(0x58);
    at += size;
  }
  return parser.end();
}

const contentOf = (raw: Buffer, { attachments }: ParsedMessage): readonly string[] =>
  attachments.map(({ content }) =>
    content.kind === 'bytes'
      ? content.bytes.toString('base64')
      : decodeTransfer(raw.subarray(content.start, content.end), content.encoding).toString('base64'),
  );

/** Damages bytes as networks, programs and attackers do. */
const mutationArbitrary = fc.oneof(
  fc.record({ kind: fc.constant('flip' as const), at: fc.nat(), byte: fc.integer({ min: 0, max: 255 }) }),
  fc.record({ kind: fc.constant('cut' as const), at: fc.nat(), length: fc.nat(400) }),
  fc.record({ kind: fc.constant('repeat' as const), at: fc.nat(), length: fc.nat(400) }),
  fc.record({
    kind: fc.constant('insert' as const),
    at: fc.nat(),
    text: fc.oneof(
      fc.constantFrom(
        '\r\n',
        '\n',
        '\r',
        '\0',
        '"',
        '<',
        '(',
        '=?',
        '?=',
        '--',
        '\r\n\r\n',
        '=',
        ';',
        '\xff',
      ),
      fc.constantFrom(
        '\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\n',
        '\r\nContent-Transfer-Encoding: base64\r\n',
        '\r\nFrom: evil@x.test\r\n',
        "filename*1*=utf-8''%ff;",
      ),
      fc.string({ unit: 'binary', maxLength: 20 }),
    ),
  }),
);

type Mutation = typeof mutationArbitrary extends fc.Arbitrary<infer T> ? T : never;

function mutate(raw: Buffer, mutation: Mutation): Buffer {
  const at = mutation.at % (raw.length + 1);
  const [before, after] = [raw.subarray(0, at), raw.subarray(at)];
  switch (mutation.kind) {
    case 'flip':
      return Buffer.concat([before, Buffer.of(mutation.byte), after.subarray(1)]);
    case 'cut':
      return Buffer.concat([before, after.subarray(mutation.length)]);
    case 'repeat':
      return Buffer.concat([before, after.subarray(0, mutation.length), after]);
    case 'insert':
      return Buffer.concat([before, Buffer.from(mutation.text, 'latin1'), after]);
  }
}

/** Laws that hold for every message, however broken. */
function expectSound(raw: Buffer, message: ParsedMessage): void {
  expect(message.sizeBytes).toBe(raw.length);
  expect(message.text.isWellFormed()).toBe(true);
  expect(message.text).not.toMatch(/[\0\r]/);
  expect(message.subject).not.toMatch(/[\r\n\0]/);
  expect(message.subject.isWellFormed()).toBe(true);
  for (const { filename, content, partPath } of message.attachments) {
    expect(filename).not.toBe('');
    expect(displayFilename(filename)).toBe(filename);
    expect(partPath).toMatch(/^(?:\d+(?:\.\d+)*)?$/);
    if (content.kind === 'bytes') continue;
    expect(content.start).toBeGreaterThanOrEqual(0);
    expect(content.end).toBeGreaterThanOrEqual(content.start);
    expect(content.end).toBeLessThanOrEqual(raw.length);
  }
  const people = [message.from, message.replyTo, message.to, message.cc, message.bcc].flat();
  for (const { name, localPart, domain } of people) {
    expect(`${name}${localPart}${domain}`).not.toMatch(/[\p{Cc}\p{Cs}]/u);
    expect(domain).toMatch(/^(?:[a-z0-9_.-]*|\[[\d.]+\]|\[IPv6:[\da-f:.]+\])$/);
  }
  expect(message.contentDigest).toMatch(/^[0-9a-f]{64}$/);
}

describe('parsing', () => {
  it('reads back what was composed', () => {
    fc.assert(
      fc.property(draftArbitrary, (draft) => {
        const raw = composeMessage(draft);
        const message = parseMessage(raw);
        expect(message.messageId).toBe(normaliseMessageId(draft.messageId));
        expect(message.date?.getTime()).toBe(Math.floor(draft.date.getTime() / 1000) * 1000);
        expect(message.from).toEqual([draft.from]);
        expect(message.to).toEqual(draft.to);
        expect(message.cc).toEqual(draft.cc);
        expect(message.subject).toBe(draft.subject.replace(/[\u2028\u2029]+/g, ' '));
        expect(normal(whereQuotable(draft.inReplyTo, message.inReplyTo))).toEqual(normal(draft.inReplyTo));
        const references = [...new Set(draft.references)];
        expect(normal(whereQuotable(references, message.references))).toEqual(normal(references));
        const html = draft.htmlBody === null ? null : withLf(draft.htmlBody);
        expect(message.html).toBe(html);
        const text = withLf(draft.textBody ?? '');
        const said = text.trim() === '' ? htmlToText(html ?? '') : text;
        // A mail that is nothing but files has the text of an inline one.
        expect(said === '' ? '' : message.text).toBe(said);
        expect(message.attachments.map(({ filename }) => filename)).toEqual(
          filesInOrder(draft).map(({ filename }) => displayFilename(filename)),
        );
        expect(contentOf(raw, message)).toEqual(
          filesInOrder(draft).map(({ content }) => (content as { bytes: Buffer }).bytes.toString('base64')),
        );
        // A calendar is read as text, and these are random bytes.
        expect(message.defects.filter((defect) => !/charset|characters|calendar/.test(defect))).toEqual([]);
      }),
      { numRuns: runs(1000) },
    );
  });

  it('of any bytes gives a sound message or passes a limit', () => {
    const tokens = fc.constantFrom(
      'Content-Type: multipart/mixed; boundary="b"',
      'Content-Type: text/html; charset=utf-7',
      'Content-Transfer-Encoding: quoted-printable',
      'Subject: =?utf-8?q?',
      '--b',
      '--b--',
      '\r\n',
      '\r\n\r\n',
      '\n',
      ': ',
      'x',
      '\xff\xfe',
      'begin 644 x',
    );
    fc.assert(
      fc.property(
        fc.oneof(
          fc.uint8Array({ maxLength: 500 }).map((bytes) => Buffer.from(bytes)),
          fc.array(tokens, { maxLength: 40 }).map((list) => Buffer.from(list.join(''), 'latin1')),
        ),
        (raw) => expectSound(raw, read(raw)),
      ),
      { numRuns: runs(3000) },
    );
  });

  it('of thousands of damaged messages gives sound ones', () => {
    fc.assert(
      fc.property(
        fixtureArbitrary,
        fc.array(mutationArbitrary, { minLength: 1, maxLength: 8 }),
        (fixture, list) => {
          let raw: Buffer = fixture;
          for (const mutation of list) raw = mutate(raw, mutation);
          let message = read(Buffer.alloc(0));
          expectCpuBelow(2000, () => (message = read(raw)));
          expectSound(raw, message);
        },
      ),
      { numRuns: runs(5000) },
    );
  });

  it('does not depend on chunks', () => {
    fc.assert(
      fc.property(
        fixtureArbitrary,
        fc.array(mutationArbitrary, { maxLength: 2 }),
        fc.array(fc.oneof(fc.integer({ min: 1, max: 9 }), fc.integer({ min: 1, max: 9000 })), {
          minLength: 1,
          maxLength: 5,
        }),
        (fixture, list, sizes) => {
          let raw: Buffer = fixture;
          for (const mutation of list) raw = mutate(raw, mutation);
          expect(read(raw, (bytes) => readInChunks(bytes, sizes))).toEqual(read(raw));
        },
      ),
      { numRuns: runs(500) },
    );
  });

  it('does not depend on line ends, but for where bytes stand', () => {
    const where = new Set(['sizeBytes', 'attachments', 'reports']);
    for (const fixture of FIXTURES) {
      if (fixture.includes('\0') || /\r(?!\n)/.test(fixture.toString('latin1'))) continue;
      const lf = Buffer.from(fixture.toString('latin1').replaceAll('\r\n', '\n'), 'latin1');
      const crlf = Buffer.from(lf.toString('latin1').replaceAll('\n', '\r\n'), 'latin1');
      const cr = Buffer.from(lf.toString('latin1').replaceAll('\n', '\r'), 'latin1');
      const [a, b, c] = [read(lf), read(crlf), read(cr)].map((message) =>
        Object.fromEntries(Object.entries(message).filter(([name]) => !where.has(name))),
      );
      expect(a).toEqual(b);
      const isHeader = /^[\w-]+:.*\n(?:[\w-]+:|[ \t\n])/.test(lf.toString('latin1'));
      expect(isHeader ? c : a).toEqual(a);
    }
  });
});
