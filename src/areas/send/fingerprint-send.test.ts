import { writeFile } from 'node:fs/promises';
import { createReadStream } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { makeTempFolder } from '../../../test/helpers/temp-folder.ts';
import type { SendRequest } from './use-cases.ts';
import { fingerprintSend } from './fingerprint-send.ts';

const file = (text: string, filename = 'a.txt', contentType: string | null = 'text/plain') => ({
  filename,
  contentType,
  content: { kind: 'bytes' as const, bytes: Buffer.from(text) },
});

const request: SendRequest = {
  to: ['ann@example.com'],
  cc: [],
  bcc: [],
  subject: 'Angebot',
  textBody: 'Guten Tag',
  htmlBody: null,
  inReplyTo: null,
  threadId: null,
  customerId: null,
  companyId: null,
  accountId: null,
  attachments: [file('one'), file('two')],
  respondAsync: false,
  sendAt: null,
  priority: null,
  lane: null,
  autoSubmitted: null,
  replyTo: [],
  fromName: null,
  headers: {},
  tags: [],
  metadata: {},
  unsubscribeList: null,
  template: null,
  authorKeyId: null,
  isByPerson: false,
};

const fingerprint = async (changes: object = {}) =>
  (
    await fingerprintSend({ openFile: (path) => createReadStream(path) }, { ...request, ...changes })
  ).toString('hex');

describe('the fingerprint of a send', () => {
  test('does not depend on the order of fields, nor on fields that are absent', async () => {
    const reversed = Object.fromEntries(Object.entries(request).reverse()) as unknown as SendRequest;
    expect(await fingerprint(reversed)).toBe(await fingerprint());
    expect(await fingerprint({ ofALaterVersion: null, listOfALaterVersion: [] })).toBe(await fingerprint());
  });

  test('does not depend on whether the caller waits for the outcome', async () => {
    expect(await fingerprint({ respondAsync: true })).toBe(await fingerprint());
    expect(await fingerprint({ sendAt: new Date(1) })).not.toBe(await fingerprint({ sendAt: new Date(2) }));
  });

  test('is the same for bytes in memory and in a file', async () => {
    const temp = await makeTempFolder();
    try {
      const path = join(temp.path, 'one');
      await writeFile(path, 'one');
      const [, second] = request.attachments;
      const content = { kind: 'file' as const, path, sizeBytes: 3 };
      expect(await fingerprint({ attachments: [{ ...file(''), content }, second] })).toBe(
        await fingerprint(),
      );
    } finally {
      await temp.remove();
    }
  });

  test.each<Partial<SendRequest>>([
    { to: ['ann@example.org'] },
    { to: [], cc: ['ann@example.com'] },
    { to: [], bcc: ['ann@example.com'] },
    { bcc: ['bob@example.com'] },
    { subject: 'angebot' },
    { textBody: 'Guten Tag ' },
    { textBody: null, htmlBody: 'Guten Tag' },
    { inReplyTo: 'x@example.com' },
    { threadId: '0190b2a0-0000-7000-8000-000000000001' },
    { customerId: '0190b2a0-0000-7000-8000-000000000001' },
    { companyId: '0190b2a0-0000-7000-8000-000000000001' },
    { accountId: 'sales' },
    { attachments: [] },
    { attachments: [file('two'), file('one')] },
    { attachments: [file('one'), file('two', 'b.txt')] },
    { attachments: [file('one'), file('two', 'a.txt', null)] },
    { attachments: [file('onetwo')] },
  ])('changes with %j', async (changes) => {
    expect(await fingerprint(changes)).not.toBe(await fingerprint());
  });
});
