/** Accounts and mailboxes as JSON: the schemas, and the mapping. */
import type { XStatic } from 'typebox/schema';
import type { AccountStatus } from '../../../app/mailboxes/use-cases.ts';
import type { MailboxStatus, QuarantinedMessage } from '../../../app/mailboxes/mailbox-status-ports.ts';
import { addrSpec } from '../../../core/address/address.ts';
import {
  AddressObject,
  NullableTimestamp,
  NullableUuid,
  record,
  Timestamp,
  Uuid,
} from '../schemas/schemas.ts';

const REASON = { type: 'string', description: 'For people: what the server or the service said.' } as const;
const Count = { type: 'integer', minimum: 0 } as const;

const MailboxFailure = record('MailboxFailure', { reason: REASON, at: Timestamp });

const AccountFailure = record('AccountFailure', {
  kind: {
    type: 'string',
    enum: ['credentials', 'connection', 'refused', 'service'],
    description:
      'The server refused the login; it could not be reached; it refused a command; the database or storage was away.',
  },
  reason: REASON,
  at: Timestamp,
});

const MailboxSchema = record('Mailbox', {
  path: { type: 'string', description: 'As the mail server names it.' },
  special_use: {
    type: ['string', 'null'],
    description: 'RFC 6154, such as `\\Sent`; `\\Inbox` for INBOX.',
  },
  last_success_at: {
    ...NullableTimestamp,
    description: 'Everything it held then is recorded or set aside; null: not yet.',
  },
  lag_seconds: { type: ['integer', 'null'], description: 'How long ago that was.' },
  last_error: {
    anyOf: [MailboxFailure, { type: 'null' }],
    description: 'The last one ever; it has passed when `last_success_at` is later.',
  },
  left_at: { ...NullableTimestamp, description: 'Since then it is not read any more; null: it is read.' },
  counts: record('MailboxCounts', {
    messages: { ...Count, description: 'Seen so far.' },
    recorded: { ...Count, description: 'That have an email.' },
    remaining: { ...Count, description: 'Still to be taken.' },
    quarantined: { ...Count, description: 'That could not be taken; see `GET /api/quarantine`.' },
    expunged: { ...Count, description: 'Gone from the mailbox since, recorded or not.' },
  }),
});

export const AccountSchema = record('Account', {
  id: { type: 'string' },
  from_address: {
    anyOf: [AddressObject, { type: 'null' }],
    description: 'What From says; null when the answering process does not know the account.',
  },
  has_mailbox: {
    type: 'boolean',
    description: 'The answering process is configured to read its mailboxes.',
  },
  owner: {
    ...NullableUuid,
    description: 'The instance that reads them; null: none does.',
  },
  owned_here: { type: 'boolean', description: 'That is the answering one.' },
  warning: {
    type: ['string', 'null'],
    description: 'Why reading will stop unless an operator acts, such as a token that can not be refreshed.',
  },
  sent_copies: record('SentCopies', {
    kept: {
      type: 'boolean',
      description: 'The answering process is configured to put what is sent into its Sent mailbox.',
    },
    note: { type: ['string', 'null'], description: 'Why not, although the account asks for it.' },
    pending: { ...Count, description: 'To be stored, of all processes.' },
    failed: { ...Count, description: 'Given up; see `sent_copy` of `GET /api/emails/{id}`.' },
    last_error: {
      anyOf: [MailboxFailure, { type: 'null' }],
      description: 'The latest about those that are not stored.',
    },
  }),
  last_attempt_at: { ...NullableTimestamp, description: 'When it was connected to, or tried to.' },
  next_attempt_at: { ...NullableTimestamp, description: 'After a failure; null: it is being read.' },
  last_error: {
    anyOf: [AccountFailure, { type: 'null' }],
    description: 'The last one ever; it has passed when a mailbox has a later `last_success_at`.',
  },
  mailboxes: { type: 'array', items: MailboxSchema },
});

export const QuarantinedSchema = record('QuarantinedMessage', {
  id: Uuid,
  account_id: { type: 'string' },
  mailbox: { type: 'string', description: 'Its path.' },
  uid_validity: { type: 'integer', minimum: 0 },
  uid: { type: 'integer', minimum: 1, description: 'RFC 9051 §2.3.1.1, of this mailbox and UIDVALIDITY.' },
  subject: {
    type: ['string', 'null'],
    description: 'Of its header, at most 500 characters; null: there is none, or it could not be read.',
  },
  from_address: {
    anyOf: [AddressObject, { type: 'null' }],
    description: 'The first of From; null as for `subject`.',
  },
  date: { ...NullableTimestamp, description: 'Of its header; null as for `subject`.' },
  size_bytes: {
    type: ['integer', 'null'],
    minimum: 0,
    description: 'What the mail server says; null: nothing.',
  },
  reason: REASON,
  tries: {
    type: 'integer',
    minimum: 0,
    description: 'Failed tries, automatic ones and those that an operator asked for.',
  },
  first_seen_at: Timestamp,
  quarantined_at: Timestamp,
  next_try_at: Timestamp,
});

export function toAccountJson(account: AccountStatus): XStatic<typeof AccountSchema> {
  const { lastError } = account;
  return {
    id: account.accountId,
    from_address: account.from === null ? null : { name: account.from.name, address: addrSpec(account.from) },
    has_mailbox: account.hasMailbox,
    owner: account.owner,
    owned_here: account.isOwnedHere,
    warning: account.warning,
    sent_copies: toSentCopiesJson(account.sentCopies),
    last_attempt_at: toText(account.lastAttemptAt),
    next_attempt_at: toText(account.nextAttemptAt),
    last_error:
      lastError === null
        ? null
        : { kind: lastError.kind, reason: lastError.reason, at: lastError.at.toISOString() },
    mailboxes: account.mailboxes.map(toMailboxJson),
  };
}

const toSentCopiesJson = ({ areKept, note, pending, failed, lastError }: AccountStatus['sentCopies']) => ({
  kept: areKept,
  note,
  pending,
  failed,
  last_error: lastError === null ? null : { reason: lastError.reason, at: lastError.at.toISOString() },
});

function toMailboxJson(mailbox: MailboxStatus): XStatic<typeof MailboxSchema> {
  const { lastError, lagMs, counts } = mailbox;
  return {
    path: mailbox.path,
    special_use: mailbox.specialUse,
    last_success_at: toText(mailbox.lastSuccessAt),
    lag_seconds: lagMs === null ? null : Math.max(0, Math.round(lagMs / 1000)),
    last_error: lastError === null ? null : { reason: lastError.reason, at: lastError.at.toISOString() },
    left_at: toText(mailbox.leftAt),
    counts: {
      messages: counts.messages,
      recorded: counts.recorded,
      remaining: counts.waiting,
      quarantined: counts.quarantined,
      expunged: counts.expunged,
    },
  };
}

export function toQuarantinedJson(message: QuarantinedMessage): XStatic<typeof QuarantinedSchema> {
  return {
    id: message.id,
    account_id: message.accountId,
    mailbox: message.path,
    uid_validity: message.uidValidity,
    uid: message.uid,
    subject: message.subject,
    from_address: message.from,
    date: toText(message.date),
    size_bytes: message.sizeBytes,
    reason: message.reason,
    tries: message.tries,
    first_seen_at: message.firstSeenAt.toISOString(),
    quarantined_at: message.quarantinedAt.toISOString(),
    next_try_at: message.nextTryAt.toISOString(),
  };
}

const toText = (date: Date | null): string | null => date?.toISOString() ?? null;
