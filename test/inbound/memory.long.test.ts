/** The memory of the service while it receives the largest messages. */
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { mail, newId, post, receive } from '../helpers/inbound-mail.ts';
import { startServiceWithDatabase } from '../helpers/running-service.ts';
import type { ServiceProcess } from '../helpers/service-process.ts';

const MIB = 1024 * 1024;
const LARGEST_BYTES = 50 * MIB;
const AT_ONCE = 4;
/** Above the memory after the first mail. Measured: 30 MiB. Held in memory, the mails would be 200 MiB, decoded 350. */
const MAX_GROWTH_BYTES = 100 * MIB;

let service: ServiceProcess;
let end: () => Promise<void>;

beforeAll(async () => {
  ({ service, end } = await startServiceWithDatabase());
});
afterAll(() => end());

/** Two attachments, and exactly this many bytes. */
function largeMail(sizeBytes: number): Buffer {
  const half = 'QUJD'
    .repeat(19)
    .concat('\r\n')
    .repeat(Math.floor(sizeBytes / 2 / 78) - 20);
  const file = (name: string) =>
    `--b\r\nContent-Disposition: attachment; filename=${name}\r\nContent-Transfer-Encoding: base64\r\n\r\n${half}`;
  const text = mail({
    messageId: newId(),
    headers: ['Content-Type: multipart/mixed; boundary=b'],
    body: `--b\r\n\r\ntext\r\n${file('a.bin')}${file('b.bin')}--b--\r\n`,
  });
  return Buffer.from(text + 'x'.repeat(sizeBytes - text.length));
}

/** The highest resident memory since the last reset, or the current one if the kernel does not report it. */
function memory(): number {
  const status = readFileSync(`/proc/${service.process.pid}/status`, 'utf8');
  return Number(/^VmHWM:\s+(\d+) kB$/m.exec(status)?.[1]) * 1024;
}

it.skipIf(process.platform !== 'linux')('stays flat, also when several come at once', async () => {
  // Code is loaded and compiled before measuring starts.
  await receive(service, largeMail(5 * MIB));
  const before = memory();
  const raws = Array.from({ length: AT_ONCE }, () => largeMail(LARGEST_BYTES));
  const answers = await Promise.all(raws.map((raw) => receive(service, raw)));
  const growth = memory() - before;

  expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: AT_ONCE }, () => 'received'));
  const email = (await (await service.request(`/api/emails/${answers[0]!.id}`)).json()) as {
    size_bytes: number;
    email_attachments: unknown[];
  };
  expect(email.size_bytes).toBe(LARGEST_BYTES);
  expect(email.email_attachments).toHaveLength(2);
  expect(growth).toBeLessThan(MAX_GROWTH_BYTES);
});

it('refuses what is one byte larger', async () => {
  const response = await post(service, Buffer.alloc(LARGEST_BYTES + 1, 'x'));
  expect(response.status).toBe(413);
  expect(await response.json()).toMatchObject({ code: 'payload_too_large' });
});
