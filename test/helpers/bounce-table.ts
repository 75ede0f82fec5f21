/**
 * Mails of test/fixtures/bounces with the expected readings. A mail begins with a line `## name` and lines `=> address action severity
 * status`, `=> complaint address` or `=> none`; `-` is null. Placeholders in its text: `{{to us}}` header fields, `{{report}}` … `{{end}}`
 * a report by RFC 3464 around a delivery status, `{{returned}}` the header of the sent email, `{{id}}` its Message-ID, `{{cr}}` a carriage
 * return alone.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { readBounce } from '../../src/core/delivery/bounce.ts';
import { parseMessage } from '../../src/core/mime/parse/parse.ts';

export interface BounceCase {
  readonly name: string;
  readonly raw: Buffer;
  /** Expected lines as in the file, without the arrow. */
  readonly expected: readonly string[];
}

/** The Message-ID of the sent email that every bounce names. */
export const SENT_ID = 'mf8k2w1x.9f86d081884c7d659a2feaa0c55ad015@example.com';

const FOLDER = new URL('../fixtures/bounces/', import.meta.url);

const RETURNED = [
  'From: Sales <sales@example.com>',
  'To: ada@customer.test',
  'Subject: Angebot',
  `Message-ID: <${SENT_ID}>`,
  'Date: Mon, 02 Mar 2026 09:14:00 +0100',
].join('\n');

const TO_US = [
  'To: sales@example.com',
  'Date: Mon, 02 Mar 2026 09:15:00 +0100',
  'Message-ID: <notice-1@mx.customer.test>',
  'MIME-Version: 1.0',
].join('\n');

const REPORT = [
  'Return-Path: <>',
  'From: Mail Delivery System <MAILER-DAEMON@mail.example.com>',
  'Subject: Undelivered Mail Returned to Sender',
  TO_US,
  'Auto-Submitted: auto-replied',
  'Content-Type: multipart/report; report-type=delivery-status; boundary="b"',
  '',
  '--b',
  'Content-Type: text/plain; charset=utf-8',
  '',
  'Your message could not be delivered.',
  '',
  '--b',
  'Content-Type: message/delivery-status',
  '',
  '',
].join('\n');

const END = ['', '--b', 'Content-Type: text/rfc822-headers', '', RETURNED, '', '--b--'].join('\n');

export const BOUNCE_CASES: readonly BounceCase[] = readdirSync(FOLDER).flatMap((file) =>
  readFileSync(new URL(file, FOLDER), 'utf8')
    .split(/^## /m)
    .slice(1)
    .map((text) => toCase(file.replace(/\.txt$/, ''), text)),
);

function toCase(file: string, text: string): BounceCase {
  const [name = '', ...lines] = text.split('\n');
  const start = lines.findIndex((line) => !line.startsWith('=> '));
  const mail = lines
    .slice(start)
    .join('\n')
    .trimEnd()
    .replace('{{report}}\n', () => REPORT)
    .replace('{{end}}', () => END)
    .replaceAll('{{returned}}', RETURNED)
    .replaceAll('{{to us}}', TO_US)
    .replaceAll('{{id}}', SENT_ID)
    .replaceAll('\n', '\r\n')
    .replaceAll('{{cr}}', '\r');
  return {
    name: `${file}: ${name}`,
    raw: Buffer.from(`${mail}\r\n`),
    expected: lines.slice(0, start).map((line) => line.slice('=> '.length)),
  };
}

/** The reading of a mail, in the notation of the file; a bounce that does not name the sent email is marked as such. */
export function describeBounce(raw: Buffer): readonly string[] {
  const bounce = readBounce(parseMessage(raw));
  if (bounce === null) return ['none'];
  const recipients = bounce.recipients.map(({ address, action, severity, status }) =>
    bounce.kind === 'complaint'
      ? `complaint ${address}`
      : [address, action, severity ?? '-', status ?? '-'].join(' '),
  );
  const ids: readonly string[] = bounce.originalMessageIds;
  return ids.includes(SENT_ID) ? recipients : [...recipients, 'without the Message-ID'];
}
