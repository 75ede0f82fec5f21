/** The files of a received email that are part of what it shows, in the built service. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { mail, receive } from '../helpers/inbound-mail.ts';
import { getJson, startServiceWithSink } from '../helpers/running-service.ts';
import type { ServiceProcess } from '../helpers/service-process.ts';

let service: ServiceProcess;
let end: () => Promise<void>;

beforeAll(async () => {
  ({ service, end } = await startServiceWithSink());
});
afterAll(() => end());

interface Files {
  readonly has_attachments: boolean;
  readonly email_attachments: readonly Record<string, unknown>[];
}

const part = (...lines: readonly string[]): string => ['--b', ...lines, ''].join('\r\n');

it('tells images that the HTML shows from files that were sent along', async () => {
  const body = [
    part('Content-Type: text/html', '', '<p>Hallo</p><img src="cid:logo@customer.test">'),
    part('Content-Type: image/png; name="logo.png"', 'Content-ID: <logo@customer.test>', '', 'logo'),
    part(
      'Content-Type: image/gif',
      'Content-ID: <sign>',
      'Content-Disposition: inline; filename=sign.gif',
      '',
      'sign',
    ),
    part(
      'Content-Type: application/pdf',
      'Content-ID: <offer>',
      'Content-Disposition: inline; filename=offer.pdf',
      '',
      'pdf',
    ),
    part('Content-Type: image/jpeg; name="photo.jpg"', 'Content-Disposition: inline', '', 'photo'),
    '--b--',
  ].join('\r\n');
  const headers = ['MIME-Version: 1.0', 'Content-Type: multipart/related; boundary=b'];
  const { id, threadId } = await receive(service, mail({ headers, body }));
  const email = await getJson<Files>(service, `/api/emails/${id}`);
  expect(email.email_attachments.map((file) => [file.filename, file.content_id, file.inline])).toEqual([
    ['logo.png', 'logo@customer.test', true],
    ['sign.gif', 'sign', true],
    ['offer.pdf', 'offer', false],
    ['photo.jpg', null, false],
  ]);

  const { emails } = await getJson<{ emails: Files[] }>(service, `/api/thread/${threadId}`);
  expect(emails[0]?.has_attachments).toBe(true);
  expect(Object.keys(emails[0]?.email_attachments[0] ?? {})).toEqual([
    'id',
    'filename',
    'content_type',
    'size_bytes',
    'storage_path',
  ]);
});
