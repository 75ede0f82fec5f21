import { describe, expect, it } from 'vitest';
import { directReader } from '../../../test/helpers/direct-reader.ts';
import { silentLogger } from '../../../test/helpers/silent-logger.ts';
import { ServiceError } from '../../core/errors.ts';
import { identityOf } from '../../core/message/identity.ts';
import type { Content } from '../files/file-ports.ts';
import { readHeader, readHeaders, readReceived } from './read-received.ts';
import { READ_FAILURES, type MessageReader, type ReadFailure, type ReadingKind } from './reading-ports.ts';
import { UnreadableMail } from './unreadable-mail.ts';

const HEADER = [
  'Message-ID: <poison@customer.test>',
  'From: Ada <ada@customer.test>',
  'Subject: Anfrage',
  'Date: Sun, 01 Mar 2026 12:00:00 +0100',
  'References: <one@example.com>',
];
const contentOf = (...lines: readonly string[]): Content => ({
  kind: 'bytes',
  bytes: Buffer.from([...lines, '', 'Body', ''].join('\r\n')),
});

/** Fails at some kinds of readings, and records all requests. */
function failing(reason: ReadFailure, kinds: readonly ReadingKind[]) {
  const asked: ReadingKind[] = [];
  const reader: MessageReader = {
    async read(kind, what) {
      asked.push(kind);
      return kinds.includes(kind)
        ? { kind: 'failed', reason, detail: 'as told' }
        : await directReader.read(kind, what);
    },
  };
  const openFile = () => {
    throw new Error('no file is asked for');
  };
  return { asked, reader, unreadable: new UnreadableMail(), openFile, logger: silentLogger };
}

describe('a message that cannot be read', () => {
  it.each(READ_FAILURES)('keeps what its header says, and the reason: %s', async (reason) => {
    const { message } = await readReceived(failing(reason, ['message']), contentOf(...HEADER), {});
    expect(message).toMatchObject({
      messageId: 'poison@customer.test',
      subject: 'Anfrage',
      references: ['one@example.com'],
      text: '',
      attachments: [],
    });
    expect(message.defects).toEqual([
      'not_parsed',
      {
        deadline: 'reading_took_too_long',
        memory: 'reading_took_too_much_memory',
        crash: 'reading_failed',
      }[reason],
    ]);
  });

  it('is the same email as one that was read by its header alone', async () => {
    const raw = contentOf(...HEADER);
    const { message } = await readReceived(failing('deadline', ['message']), raw, {});
    const { identity } = await readHeader(directReader, raw.kind === 'bytes' ? raw.bytes : Buffer.alloc(0));
    expect(identityOf(message)).toEqual(identity);
  });

  it('is not read again when the same bytes come again, others are', async () => {
    const ports = failing('memory', ['message']);
    const first = await readReceived(ports, contentOf(...HEADER), {});
    expect(await readReceived(ports, contentOf(...HEADER), {})).toEqual(first);
    expect(ports.asked).toEqual(['message', 'fields', 'fields']);
    await readReceived(ports, contentOf(...HEADER, 'To: b@example.com'), {});
    expect(ports.asked.slice(3)).toEqual(['message', 'fields']);
  });

  it('is an email of its own when nothing of it can be read', async () => {
    const ports = failing('crash', ['message', 'fields']);
    const ids = [];
    for (const raw of [contentOf('Subject: one'), contentOf('Subject: two'), contentOf('Subject: one')]) {
      ids.push(identityOf((await readReceived(ports, raw, {})).message).messageId);
    }
    expect(ids[1]).not.toBe(ids[0]);
    expect(ids[2]).toBe(ids[0]);
  });
});

it('does not take a message for bad when nothing can be read at the moment', async () => {
  const ports = failing('crash', []);
  const reader: MessageReader = {
    read: () => Promise.reject(new ServiceError('reading_unavailable')),
  };
  await expect(readReceived({ ...ports, reader }, contentOf(...HEADER), {})).rejects.toThrow(
    'reading_unavailable',
  );
  expect(ports.unreadable.isEmpty).toBe(true);
});

it('knows a header by its shortened fields when the whole cannot be read', async () => {
  const header = Buffer.from([...HEADER, '', ''].join('\r\n'));
  const whole = await readHeader(directReader, header);
  const asked: boolean[] = [];
  const reader: MessageReader = {
    async read(kind, what) {
      const isShortened = 'isShortened' in what && what.isShortened;
      asked.push(isShortened);
      return isShortened
        ? await directReader.read(kind, what)
        : { kind: 'failed', reason: 'deadline', detail: 'as told' };
    },
  };
  expect(whole.facts).toMatchObject({ subject: expect.any(String) as string });
  // What rules would judge by is not whole.
  expect(await readHeader(reader, header)).toEqual({ ...whole, facts: null });
  expect(asked).toEqual([false, true]);
});

describe('headers of several messages', () => {
  const headerOf = (id: number) =>
    Buffer.from(`Message-ID: <${id}@customer.test>\r\nDate: Sun, 01 Mar 2026 12:00:00 +0100\r\n\r\n`);
  const idsOf = async (reader: MessageReader, headers: readonly Buffer[]) =>
    (await readHeaders(reader, headers)).map(({ identity }) => identity?.messageId ?? null);

  it('are read in their order, many in one question', async () => {
    const ports = failing('crash', []);
    const headers = Array.from({ length: 60 }, (_, id) => headerOf(id));
    expect(await idsOf(ports.reader, headers)).toEqual(headers.map((_, id) => `${id}@customer.test`));
    expect(ports.asked).toEqual(['headers', 'headers', 'headers']);
    expect(await readHeaders(ports.reader, [])).toEqual([]);
  });

  it('are read one by one where one of them fails, so that it harms no other', async () => {
    const poison = Buffer.from('Subject: poison\r\n\r\n');
    const reader: MessageReader = {
      async read(kind, what) {
        const all = 'headers' in what ? what.headers : 'header' in what ? [what.header] : [];
        return all.includes(poison)
          ? { kind: 'failed', reason: 'deadline', detail: 'as told' }
          : await directReader.read(kind, what);
      },
    };
    expect(await idsOf(reader, [headerOf(1), poison, headerOf(2)])).toEqual([
      '1@customer.test',
      null,
      '2@customer.test',
    ]);
  });
});
