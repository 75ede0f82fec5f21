import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { readCms } from './cms.ts';
import { parseMessage } from './parse.ts';

const fixture = (name: string): Buffer =>
  readFileSync(new URL(`../../../../test/fixtures/eml/real/${name}.eml`, import.meta.url));
const opaque = fixture('smime-opaque').toString('latin1');

describe('a signed S/MIME message', () => {
  it('is read with its files, and keeps its signature', () => {
    const { text, attachments, protection } = parseMessage(Buffer.from(opaque, 'latin1'));
    expect(text).toBe('Grüße aus dem signierten Teil');
    expect(protection).toBe('smime_signed');
    expect(attachments.map(({ filename, partPath }) => [filename, partPath])).toEqual([
      ['rechnung.pdf', '1.2'],
      ['smime.p7m', '1'],
    ]);
  });

  it('is read under the labels that gateways give it', () => {
    for (const [from, to] of [
      ['smime-type=signed-data; ', ''],
      ['application/x-pkcs7-mime; smime-type=signed-data', 'application/octet-stream'],
      ['application/x-pkcs7-mime', 'application/pkcs7-mime'],
    ] as const) {
      const { text, protection } = parseMessage(Buffer.from(opaque.replace(from, to), 'latin1'));
      expect([text, protection]).toEqual(['Grüße aus dem signierten Teil', 'smime_signed']);
    }
  });

  it('is read below the footer of a list', () => {
    const [head = '', body = ''] = opaque.split(/\r\n\r\n(.*)/s);
    const fields = head.split('\r\n').filter((line) => /^(?:\s|Content-)/i.test(line));
    const raw = `Content-Type: multipart/mixed; boundary=l\r\n\r\n--l\r\n${fields.join('\r\n')}\r\n\r\n${body}--l\r\n\r\nFooter\r\n--l--\r\n`;
    const { text, protection } = parseMessage(Buffer.from(raw, 'latin1'));
    expect([text, protection]).toEqual(['Grüße aus dem signierten Teil\n\nFooter', 'smime_signed']);
  });

  it('stays packed when it is no message, damaged or only certificates', () => {
    const p7m = Buffer.from(opaque.split('\r\n\r\n')[1] ?? '', 'base64');
    const signed = readCms(p7m);
    expect(signed?.kind).toBe('signed');
    expect(readCms(p7m.subarray(0, 200))).toBeNull();
    expect(readCms(Buffer.from('text'))).toBeNull();
    // SignedData without content: version 1, no digests, `data`.
    const certificates = Buffer.from(
      '302306092a864886f70d010702a01630140201013100300b06092a864886f70d0107013100',
      'hex',
    );
    expect(readCms(certificates)).toEqual({ kind: 'signed', content: null });
    const invoice = `Content-Type: application/pkcs7-mime; name=invoice.xml.p7m\r\nContent-Transfer-Encoding: base64\r\n\r\n${opaque.split('\r\n\r\n')[1]}`;
    const mixed = `Content-Type: multipart/mixed; boundary=l\r\n\r\n--l\r\n\r\nSiehe Anlage\r\n--l\r\n${invoice}--l--\r\n`;
    expect(parseMessage(Buffer.from(mixed, 'latin1'))).toMatchObject({
      text: 'Siehe Anlage',
      protection: null,
      attachments: [{ filename: 'invoice.xml.p7m' }],
    });
  });

  it('costs little when it is built to cost much', () => {
    for (const file of [
      Buffer.alloc(2_000_000, Buffer.from([0x30, 0x80])),
      Buffer.concat([Buffer.from([0x24, 0x80]), Buffer.alloc(2_000_000, Buffer.from([4, 1, 65]))]),
      Buffer.alloc(2_000_000, Buffer.from([0x30, 0x00])),
    ]) {
      expect(readCms(file)).toBeNull();
    }
  });
});

describe('an encrypted message', () => {
  const pgp = '-----BEGIN PGP MESSAGE-----\n\nhQEMA\n-----END PGP MESSAGE-----';
  it.each([
    ['by S/MIME', fixture('smime-encrypted').toString('latin1'), 'smime_encrypted', 'S/MIME'],
    ['by PGP', fixture('pgp-encrypted').toString('latin1'), 'pgp_encrypted', 'PGP'],
    ['by PGP in its text', `Subject: x\n\n${pgp}\n`, 'pgp_encrypted', 'PGP'],
    [
      'by PGP, as Exchange changes it',
      `Content-Type: multipart/mixed; boundary=b\n\n--b\nContent-Type: application/pgp-encrypted\n\nVersion: 1\n--b\nContent-Type: application/octet-stream; name=encrypted.asc\n\n${pgp}\n--b--\n`,
      'pgp_encrypted',
      'PGP',
    ],
  ])('says that it is one: %s', (_, raw, protection, name) => {
    const message = parseMessage(Buffer.from(raw, 'latin1'));
    expect(message.protection).toBe(protection);
    expect(message.text).toMatch(new RegExp(`^Diese E-Mail ist verschlüsselt \\(${name}\\)\\.`));
  });

  it('keeps the text that is in clear', () => {
    const { text } = parseMessage(Buffer.from(`Subject: x\n\nBitte lesen:\n\n${pgp}\n`));
    expect(text).toContain(`\n\nBitte lesen:\n\n${pgp}`);
    const signed = '-----BEGIN PGP SIGNED MESSAGE-----\nHash: SHA256\n\nGuten Tag';
    expect(parseMessage(Buffer.from(`Subject: x\n\n${signed}\n`))).toMatchObject({
      protection: 'pgp_signed',
      text: signed,
    });
  });
});
