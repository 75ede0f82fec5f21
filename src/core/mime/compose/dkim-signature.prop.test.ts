import { generateKeyPairSync } from 'node:crypto';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { draftArbitrary } from '../../../../test/helpers/arbitrary/draft.ts';
import { verifyByMailauth } from '../../../../test/helpers/dkim-verifiers.ts';
import { runs } from '../../../../test/helpers/runs.ts';
import { dkimRecord } from '../../delivery/sender-records.ts';
import { composeMessage } from './compose.ts';
import { dkimFields, type DkimSigning } from './dkim-signature.ts';

const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey;
const ed25519 = generateKeyPairSync('ed25519').privateKey;
const SIGNED_AT = new Date('2026-03-01T12:00:00Z');

const signing: DkimSigning = {
  domain: 'example.com',
  keys: [
    { selector: 'r', privateKey: rsa },
    { selector: 'e', privateKey: ed25519 },
  ],
  relayReplacesDate: false,
};

const PUBLISHED = Object.fromEntries(
  signing.keys.map(({ selector, privateKey }) => {
    const { name, value } = dkimRecord(signing.domain, selector, privateKey);
    return [name, value];
  }),
);

const verify = (message: Buffer) => verifyByMailauth(message, PUBLISHED);

async function signed(message: Buffer, pieceBytes = message.length, using = signing): Promise<Buffer> {
  const pieces: Buffer[] = [];
  for (let at = 0; at < message.length; at += pieceBytes) pieces.push(message.subarray(at, at + pieceBytes));
  return Buffer.concat([Buffer.from(await dkimFields(pieces, using, SIGNED_AT), 'latin1'), message]);
}

const mail = (head: string, body: string): Buffer =>
  Buffer.from(`From: a@example.com\r\nSubject: x\r\n${head}\r\n${body}`, 'latin1');

describe('the signatures of a message', () => {
  it('are good to mailauth, whatever was composed', async () => {
    await fc.assert(
      fc.asyncProperty(draftArbitrary, async (draft) => {
        expect(await verify(await signed(composeMessage(draft)))).toEqual(['pass', 'pass']);
      }),
      { numRuns: runs(200) },
    );
  });

  it('do not depend on the pieces in which the message comes', async () => {
    await fc.assert(
      fc.asyncProperty(draftArbitrary, fc.integer({ min: 40, max: 2000 }), async (draft, pieceBytes) => {
        const message = composeMessage(draft);
        const using = { ...signing, keys: signing.keys.slice(1) };
        expect(await signed(message, pieceBytes, using)).toEqual(
          await signed(message, message.length, using),
        );
      }),
      { numRuns: runs(100) },
    );
  });

  it('are good for bodies of any lines', async () => {
    const line = fc.stringMatching(/^[ \ta.]{0,5}$/);
    await fc.assert(
      fc.asyncProperty(fc.array(line, { maxLength: 8 }), async (lines) => {
        const message = await signed(mail('', lines.map((text) => `${text}\r\n`).join('')));
        expect(await verify(message)).toEqual(['pass', 'pass']);
      }),
      { numRuns: runs(300) },
    );
  });

  it.each([
    ['no body', ''],
    ['empty lines alone', '\r\n'.repeat(100_000)],
    ['a text behind many empty lines', `${'\r\n'.repeat(100_000)}end\r\n`],
    ['a last line without its end', 'a\r\nb'],
    ['a line of white space', ` \t${' '.repeat(40_000)}\r\nb\r\n`],
    ['more than a block', 'ab cd\r\n'.repeat(20_000)],
  ])('are good for %s', async (_, body) => {
    expect(await verify(await signed(mail('', body)))).toEqual(['pass', 'pass']);
  });

  it('break when a field is added, changed or removed that mail programs show', async () => {
    const message = await signed(mail('To: b@example.org\r\n', 'Hello\r\n'));
    const text = message.toString('latin1');
    for (const added of ['From: x@example.com', 'Subject: y', 'To: c@example.org', 'Cc: d@example.org']) {
      expect(await verify(Buffer.from(`${added}\r\n${text}`, 'latin1'))).toEqual(['fail', 'fail']);
    }
    expect(await verify(Buffer.from(text.replace('Subject: x', 'Subject: z'), 'latin1'))).toEqual([
      'fail',
      'fail',
    ]);
    expect(await verify(Buffer.from(text.replace('To: b@example.org\r\n', ''), 'latin1'))).toEqual([
      'fail',
      'fail',
    ]);
    expect(await verify(Buffer.from(text.replace('Hello', 'hello'), 'latin1'))).not.toContain('pass');
  });

  it('stay good when a relay writes another Message-ID, trace fields and other folding', async () => {
    const head = 'To: b@example.org\r\nMessage-ID: <1@example.com>\r\nList-Id: <news.example.com>\r\n';
    const text = (await signed(mail(head, 'a  b \r\n\r\n'))).toString('latin1');
    const relayed = `Received: by relay\r\nMessage-ID: <2@relay>\r\n${text
      .replace(/^Message-ID: .*\r\n/m, '')
      .replace('Subject: x', 'SUBJECT :\r\n\tx')
      .replace('a  b ', 'a b')}`;
    expect(await verify(Buffer.from(relayed, 'latin1'))).toEqual(['pass', 'pass']);
  });

  it('leave the Date to a relay that writes its own', async () => {
    const message = mail('Date: Sun, 01 Mar 2026 12:00:00 +0000\r\n', 'x\r\n');
    const text = (await signed(message, 10, { ...signing, relayReplacesDate: true })).toString('latin1');
    expect(await verify(Buffer.from(text.replace('12:00', '12:01'), 'latin1'))).toEqual(['pass', 'pass']);
    expect(text).not.toMatch(/h=[^;]*\bdate\b/);
  });

  it('are fields of short lines', async () => {
    const fields = await dkimFields([mail('', 'x')], signing, SIGNED_AT);
    expect(Math.max(...fields.split('\r\n').map((line) => line.length))).toBeLessThanOrEqual(78);
    expect(fields).toContain(' t=1772366400;');
  });
});
