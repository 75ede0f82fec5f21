import { describe, expect, it } from 'vitest';
import { MessageLimitError } from '../mime/parse/message-limit-error.ts';
import { parseMessage } from '../mime/parse/parse.ts';
import type { ParsedMessage } from '../mime/parse/parsed-message.ts';
import { identityKey, identityOf, madeUpMessageId, sentIdentityKey } from './identity.ts';
import { isMadeUpMessageId, parseMessageId } from './message-id.ts';

const HEAD =
  'From: Eva <eva@example.org>\r\nTo: max@example.com\r\nSubject: Hallo\r\nDate: Mon, 2 Mar 2026 09:15:00 +0100\r\n';
const ID = 'Message-ID: <a@example.org>\r\n';

const read = (text: string) => parseMessage(Buffer.from(text));
const keyOf = (text: string): string => identityKey(identityOf(read(text)));

describe('identityKey', () => {
  const key = keyOf(`${HEAD}${ID}\r\nx`);

  it.each([
    ['another path', `Received: from a\r\n${HEAD}${ID}X-Spam: no\r\n\r\nx`],
    ['LF', `${HEAD}${ID}\r\nx`.replaceAll('\r\n', '\n')],
    ['a footer of the server', `${HEAD}${ID}\r\nx\r\n-- \r\nad`],
    ['a folded subject', `${HEAD}${ID}\r\nx`.replace('Subject: Hallo', 'Subject:\r\n Hallo')],
    ['another time zone', `${HEAD}${ID}\r\nx`.replace('09:15:00 +0100', '08:15:00 +0000')],
  ])('is the same with %s', (_, text) => {
    expect(keyOf(text)).toBe(key);
  });

  it.each([
    ['subject', ['Hallo', 'Hello']],
    ['date', ['09:15:00', '09:15:01']],
    ['sender', ['eva@', 'eve@']],
    ['Message-ID', ['a@example', 'b@example']],
  ] as const)('differs with another %s', (_, [from, to]) => {
    expect(keyOf(`${HEAD}${ID}\r\nx`.replace(from, to))).not.toBe(key);
  });
});

describe('a message without Message-ID and Date', () => {
  const head = 'From: a@example.com\r\nSubject: s\r\nContent-Type: text/plain; charset=utf-8\r\n';

  it('is another email with another content, also where the same bytes mean something else', () => {
    const texts = [
      `${head}\r\nY2Fm\r\n`,
      `${head}Content-Transfer-Encoding: base64\r\n\r\nY2Fm\r\n`,
      `${head.replace('utf-8', 'koi8-r')}\r\n\u00e9\r\n`,
      `${head}\r\n\u00e9\r\n`,
    ];
    expect(new Set(texts.map(keyOf)).size).toBe(texts.length);
  });

  it('is the same email in whatever transfer encoding it comes', () => {
    const encoded = `${head}Content-Transfer-Encoding: quoted-printable\r\n\r\n=C3=A9\r\n`;
    expect(keyOf(encoded)).toBe(keyOf(`${head}\r\n\u00e9\r\n`));
  });
});

describe('messages whose header passes the limits before it says anything', () => {
  const fillers = [`ARC-Seal: ${'x'.repeat(990)}\r\n`.repeat(1100), 'X-A: b\r\n'.repeat(10_001)];

  /** The part up to the limit, as receiving uses it. */
  function readPart(text: string): ParsedMessage {
    try {
      return read(text);
    } catch (error) {
      if (error instanceof MessageLimitError) return error.partial;
      throw error;
    }
  }
  const keyOfPart = (text: string): string => identityKey(identityOf(readPart(text)));

  it.each(fillers)('are others when what follows differs', (filler) => {
    const first = `${filler}${HEAD}${ID}\r\nx`;
    const second = first.replace('Hallo', 'Vertrag').replace('eva@', 'bob@').replace('<a@', '<b@');
    expect(readPart(first).messageId).toBeNull();
    expect(keyOfPart(first)).not.toBe(keyOfPart(second));
  });

  it.each(fillers)('are variants of one email when its Message-ID is the same', (filler) => {
    const first = readPart(`${ID}${filler}Subject: a\r\n\r\nx`);
    const second = readPart(`${ID}${filler}Subject: b\r\n\r\nx`);
    expect(first.messageId).toBe(second.messageId);
    expect(first.contentDigest).not.toBe(second.contentDigest);
  });
});

describe('madeUpMessageId', () => {
  const id = madeUpMessageId(read(`${HEAD}\r\nx\r\n`));

  it('is a Message-ID that no other message has', () => {
    expect(parseMessageId(id)).toBe(id);
    expect(isMadeUpMessageId(id)).toBe(true);
    expect(id).toMatch(/^[0-9a-f]{64}@missing-message-id\.invalid$/);
  });

  it('does not depend on the path', () => {
    for (const text of [
      `Received: from a\n${HEAD}\r\nx`,
      `${HEAD}\r\nx\r\n\r\n`,
      `${HEAD}\r\nx\r\n`.replaceAll('\r\n', '\n'),
    ]) {
      expect(madeUpMessageId(read(text))).toBe(id);
    }
  });

  it('differs with another body, attachment or date, and without a date by the first server', () => {
    const noDate = (time: string): string =>
      `Received: from b\r\nReceived: from a; ${time}\r\nFrom: alarm@example.org\r\n\r\nx`;
    expect(madeUpMessageId(read(`${HEAD}\r\ny`))).not.toBe(id);
    expect(madeUpMessageId(read(`${HEAD}\r\nx`.replace('2026', '2025')))).not.toBe(id);
    expect(madeUpMessageId(read(noDate('one')))).not.toBe(madeUpMessageId(read(noDate('two'))));
  });
});

it('is known for the copies of a sent email', () => {
  const copy = read(
    'Message-ID: <a@relay.test>\r\nDate: Sun, 01 Mar 2026 13:00:00 +0100\r\nFrom: S <"x y"@Example.com>\r\nSubject: A\r\n  b\r\n\r\n',
  );
  const sent = { date: new Date('2026-03-01T12:00:00.123Z'), from: '"x y"@example.com', subject: 'A b' };
  expect(sentIdentityKey(copy.messageId!, sent)).toBe(identityKey(identityOf(copy)));
});
