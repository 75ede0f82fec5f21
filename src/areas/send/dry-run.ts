/** The query parameter `dry_run`: what would happen, checked as the real thing, without a trace. */
import type { FastifyRequest } from 'fastify';
import type { CheckedEmail } from './use-cases.ts';
import { addrSpec, formatMailbox, type Address } from '../../core/address/address.ts';
import { invalidRequest } from '../../core/errors.ts';
import { Mistakes } from '../../core/mistakes.ts';
import { wrongType } from '../../platform/http/body/fields.ts';
import { readIdempotencyKey } from './idempotency-key.ts';
import { DryRun } from '../../platform/schemas/dry-run.ts';
import { AccountId } from '../../platform/schemas/page-schemas.ts';
import { NullableTimestamp, NullableUuid, record } from '../../platform/schemas/schemas.ts';

export const SendDryRun = DryRun(
  'True: nothing is sent, recorded, counted against a limit or learned; the response is the email that would be sent. Not with ' +
    '`Idempotency-Key`.',
);

/** For sends, whose parameters and headers Fastify does not validate. Throws `invalid_request` and `invalid_idempotency_key`. */
export function readHowToSend(request: FastifyRequest): {
  readonly key: string | null;
  readonly dryRun: boolean;
} {
  const mistakes = new Mistakes();
  const key = mistakes.check(() => readIdempotencyKey(request.headers));
  const dryRun = mistakes.check(() => readDryRun(request, key));
  mistakes.refuseAny();
  return { key, dryRun };
}

/** Throws `invalid_request`, also when there is a key. */
function readDryRun({ query }: FastifyRequest, key: string | null): boolean {
  const { dry_run: text = 'false' } = query as { dry_run?: string };
  if (text !== 'true' && text !== 'false') throw wrongType('dry_run', 'boolean');
  if (text === 'true' && key !== null)
    throw invalidRequest('not_with', { field: 'Idempotency-Key', other: 'dry_run' });
  return text === 'true';
}

const mailboxes = (description: string) =>
  ({ type: 'array', items: { title: 'CheckedMailbox', type: 'string' }, description }) as const;

export const CheckedSend = record('CheckedSend', {
  status: { type: 'string', const: 'checked' },
  would: {
    title: 'CheckedOutcome',
    type: 'string',
    enum: ['send', 'queue'],
    description: '`send`: the email would be sent at once.',
  },
  account_id: AccountId,
  thread_id: { ...NullableUuid, description: 'Thread of the email; null: a new thread would be created.' },
  from: { type: 'string' },
  to: mailboxes('All recipients, with their display names.'),
  cc: mailboxes('As `to`.'),
  bcc: mailboxes('As `to`; not in the message.'),
  subject: { type: 'string', description: 'Rendered subject, with the template filled in.' },
  text_body: { type: ['string', 'null'] },
  html_body: { type: ['string', 'null'] },
  send_at: NullableTimestamp,
  attachments: {
    type: 'array',
    items: record('CheckedFile', {
      filename: { type: 'string' },
      content_type: { type: 'string' },
      size_bytes: { type: 'integer', minimum: 0 },
    }),
  },
  size_bytes: { type: 'integer', minimum: 0, description: 'Size of the whole message.' },
});

const toText = (address: Address): string =>
  formatMailbox({ name: address.name, address: addrSpec(address) });

export const toCheckedJson = (email: CheckedEmail) => ({
  status: 'checked',
  would: email.queued ? 'queue' : 'send',
  account_id: email.accountId,
  thread_id: email.threadId,
  from: toText(email.from),
  to: email.to.map(toText),
  cc: email.cc.map(toText),
  bcc: email.bcc.map(toText),
  subject: email.subject,
  text_body: email.textBody,
  html_body: email.htmlBody,
  send_at: email.sendAt?.toISOString() ?? null,
  attachments: email.attachments.map(({ filename, contentType, sizeBytes }) => ({
    filename,
    content_type: contentType,
    size_bytes: sizeBytes,
  })),
  size_bytes: email.sizeBytes,
});
