/** Received messages for tests, as text. */
import { randomUUID } from 'node:crypto';
import type { ServiceProcess } from './service-process.ts';

export interface MailFields {
  /** With angle brackets; null leaves the field out. */
  readonly messageId?: string | null;
  readonly from?: string;
  readonly to?: string;
  readonly subject?: string;
  readonly date?: string;
  readonly inReplyTo?: string;
  readonly references?: readonly string[];
  /** Additional header lines. */
  readonly headers?: readonly string[];
  readonly body?: string;
}

/** A Message-ID with angle brackets. */
export const newId = (): string => `<${randomUUID()}@customer.test>`;

/** A small message with CRLF. */
export function mail(fields: MailFields = {}): string {
  const { messageId = newId(), inReplyTo, references, headers = [], body = 'Guten Tag' } = fields;
  const lines = [
    `From: ${fields.from ?? 'Ada <ada@customer.test>'}`,
    `To: ${fields.to ?? 'sales@example.com'}`,
    `Subject: ${fields.subject ?? 'Hallo'}`,
    `Date: ${fields.date ?? 'Sun, 01 Mar 2026 12:00:00 +0100'}`,
    ...(messageId === null ? [] : [`Message-ID: ${messageId}`]),
    ...(inReplyTo === undefined ? [] : [`In-Reply-To: ${inReplyTo}`]),
    ...(references === undefined ? [] : [`References: ${references.join('\r\n ')}`]),
    ...headers,
    '',
    body,
    '',
  ];
  return lines.join('\r\n');
}

export interface Received {
  readonly status: 'received' | 'duplicate' | 'deleted';
  readonly id: string;
  readonly messageId: string;
  readonly threadId: string;
}

/** `POST /api/inbound`, whatever the answer. */
export function post(service: ServiceProcess, raw: string | Buffer, query = ''): Promise<Response> {
  return service.request(`/api/inbound${query}`, {
    method: 'POST',
    body: Buffer.from(raw),
    headers: { 'content-type': 'message/rfc822' },
  });
}

/** Throws unless the email is recorded. */
export async function receive(service: ServiceProcess, raw: string | Buffer, query = ''): Promise<Received> {
  const response = await post(service, raw, query);
  if (response.status !== 200) throw new Error(`${response.status} ${await response.text()}`);
  return (await response.json()) as Received;
}
