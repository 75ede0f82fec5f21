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
} from '../../../platform/schemas/schemas.ts';

const REASON = {
  type: 'string',
  description: 'Error of the server or the service, for people to read.',
} as const;
const Count = { type: 'integer', minimum: 0 } as const;

const MailboxFailure = record('MailboxFailure', { reason: REASON, at: Timestamp });

const AccountFailure = record('AccountFailure', {
  kind: {
    type: 'string',
    enum: ['credentials', 'connection', 'refused', 'service'],
    description:
      '`credentials`: the server refused the login. `connection`: the server could not be reached. `refused`: the server refused ' +
      'a command. `service`: the database or the storage was away.',
  },
  reason: REASON,
  at: Timestamp,
});

const MailboxSchema = record('Mailbox', {
  path: { type: 'string', description: 'Name on the mail server.' },
  special_use: {
    type: ['string', 'null'],
    description: 'RFC 6154, such as `\\Sent`; `\\Inbox` for INBOX.',
  },
  last_success_at: {
    ...NullableTimestamp,
    description:
      'The last time at which everything in the mailbox was recorded or quarantined; null: not yet.',
  },
  lag_seconds: { type: ['integer', 'null'], description: 'Seconds since `last_success_at`.' },
  last_error: {
    anyOf: [MailboxFailure, { type: 'null' }],
    description: 'The last error ever; it is over when `last_success_at` is later.',
  },
  left_at: { ...NullableTimestamp, description: 'When reading of the mailbox ended; null while it is read.' },
  counts: record('MailboxCounts', {
    messages: { ...Count, description: 'Messages seen so far.' },
    recorded: { ...Count, description: 'Messages that are recorded.' },
    remaining: { ...Count, description: 'Messages still to be recorded.' },
    quarantined: { ...Count, description: 'Messages that could not be recorded; see `GET /api/quarantine`.' },
    expunged: { ...Count, description: 'Messages that have left the mailbox since, recorded or not.' },
  }),
});

export const AccountSchema = record('Account', {
  id: { type: 'string' },
  from_address: {
    anyOf: [AddressObject, { type: 'null' }],
    description: 'Address of From; null when the responding process does not know the account.',
  },
  has_mailbox: {
    type: 'boolean',
    description: 'True when the responding process is configured to read the mailboxes.',
  },
  owner: {
    ...NullableUuid,
    description: 'Instance that reads the mailboxes; null when none does.',
  },
  owned_here: { type: 'boolean', description: 'True when the responding process is that instance.' },
  warning: {
    type: ['string', 'null'],
    description: "Why reading will stop unless an operator acts, such as a token that can't be refreshed.",
  },
  sent_copies: record('SentCopies', {
    kept: {
      type: 'boolean',
      description: 'True when the responding process is configured to copy sent mail into the Sent mailbox.',
    },
    note: { type: ['string', 'null'], description: 'Why copies are off although the account asks for them.' },
    pending: { ...Count, description: 'Copies waiting to be stored, of all processes.' },
    failed: { ...Count, description: 'Given up; see `sent_copy` of `GET /api/emails/{id}`.' },
    last_error: {
      anyOf: [MailboxFailure, { type: 'null' }],
      description: 'The latest error of copies that are not stored.',
    },
  }),
  last_attempt_at: { ...NullableTimestamp, description: 'Time of the last connection or attempt.' },
  next_attempt_at: {
    ...NullableTimestamp,
    description: 'Time of the next attempt after a failure; null while the account is read.',
  },
  last_error: {
    anyOf: [AccountFailure, { type: 'null' }],
    description: 'The last error ever; it is over when a mailbox has a later `last_success_at`.',
  },
  mailboxes: { type: 'array', items: MailboxSchema },
});

export const QuarantinedSchema = record('QuarantinedMessage', {
  id: Uuid,
  account_id: { type: 'string' },
  mailbox: { type: 'string', description: 'Path of the mailbox.' },
  uid_validity: { type: 'integer', minimum: 0 },
  uid: { type: 'integer', minimum: 1, description: 'RFC 9051 §2.3.1.1, of this mailbox and UIDVALIDITY.' },
  subject: {
    type: ['string', 'null'],
    description: 'Subject, at most 500 characters; null when there is none or it could not be read.',
  },
  from_address: {
    anyOf: [AddressObject, { type: 'null' }],
    description: 'First address of From; null as for `subject`.',
  },
  date: { ...NullableTimestamp, description: 'Date of the header; null as for `subject`.' },
  size_bytes: {
    type: ['integer', 'null'],
    minimum: 0,
    description: 'Size as reported by the mail server; null when not reported.',
  },
  reason: REASON,
  tries: {
    type: 'integer',
    minimum: 0,
    description: 'Failed attempts, automatic and manual.',
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
