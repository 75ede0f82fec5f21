/** `ReparseStore` on PostgreSQL. Emails that this service composed were never read from a raw message: they have no key. */
import type { Pool } from 'pg';
import type { StoredAttachment } from '../../platform/files/stored-attachment.ts';
import { type KnownEmail, findRecorded } from '../emails/find-recorded.ts';
import {
  type ReadEmail,
  compareReading,
  forgetReading,
  writeReading,
  type Rereading,
} from '../emails/write-emails.ts';
import { placeInbound } from '../../core/thread/place-inbound.ts';
import { relinkCustomers } from '../customers/relink-customers.ts';
import { inLinkingTransaction } from '../../platform/db/linking-transaction.ts';
import { run, statement, statements, type Executor } from '../../platform/db/statement.ts';
import { toStoredAttachment } from '../emails/attachment-rows.ts';
import { lockThreadOf } from '../emails/thread-rows.ts';
import { linkThread, readTies } from '../threads/link-thread.ts';
import { moveEmails, setReasons, type EmailReason } from '../threads/place-emails.ts';
import { addReport } from '../send/report-rows.ts';
import { toContent, type Reading } from './insert-received.ts';
import { ownIdsOf } from './record-alone.ts';
import { judgeAgain } from './writer-facts.ts';

/** Selects emails that were read from a raw message; null: any. */
export interface ReparseFilter {
  readonly emailId: string | null;
  readonly accountId: string | null;
  /** One of its defects. */
  readonly defect: string | null;
  /** By the time when it was recorded. */
  readonly since: Date | null;
}

/**
 * `changed`: `fields` names the differences. `same_as`: with the current parser, the message is that of another record;
 * nothing was changed. `gone`: the email no longer exists.
 */
export type ReplaceResult =
  | { readonly kind: 'unchanged' | 'gone' }
  | { readonly kind: 'changed'; readonly fields: readonly string[] }
  | { readonly kind: 'same_as'; readonly emailId: string };

/** Throws `ServiceError('database_unavailable')`. */
export interface ReparseStore {
  /** In the order of their ids, beginning after `after`. */
  list(filter: ReparseFilter, after: string | null, limit: number): Promise<readonly string[]>;
  /** null when it does not exist. */
  read(id: string): Promise<ReadEmail | null>;
  /**
   * Replaces the earlier reading by the current one, whole or not at all, and links the email by the Message-IDs that it
   * names. Links are only added. With `dryRun` it only reports.
   */
  replace(email: ReadEmail, reading: Reading, dryRun: boolean): Promise<ReplaceResult>;
}

export function createReparseStore(pool: Pool): ReparseStore {
  return {
    async list({ emailId, accountId, defect, since }, after, limit) {
      const asked = LIST.of({
        email: emailId !== null,
        account: accountId !== null,
        defect: defect !== null,
        since: since !== null,
        after: after !== null,
      });
      const rows = await run(pool, asked, { emailId, accountId, defect, since, after, limit });
      return rows.map(({ id }) => id);
    },

    read: readEmailOf(pool),

    replace: (email, reading, dryRun) =>
      inLinkingTransaction(pool, (trx, exclusive) => replaceReading(trx, email, reading, dryRun, exclusive)),
  };
}

const ASKED = [false, true] as const;
const LIST = statements(
  'reparse-list',
  { email: ASKED, account: ASKED, defect: ASKED, since: ASKED, after: ASKED },
  ({ email, account, defect, since, after }) => `
    select id from emails where identity_key is not null
      ${email ? 'and id = $emailId::uuid' : ''} ${account ? 'and account_id = $accountId' : ''}
      ${defect ? 'and defects @> array[$defect::text]' : ''} ${since ? 'and created_at >= $since' : ''}
      ${after ? 'and id > $after::uuid' : ''}
    order by id limit $limit`,
);

/** The function that returns the earlier reading of an email; see `ReparseStore.read`. */
export function readEmailOf(pool: Pool): ReparseStore['read'] {
  return async (id) => {
    const [row] = await run(pool, READ_EMAIL, { id });
    if (row === undefined) return null;
    const attachments = await run(pool, READ_ATTACHMENTS, { id });
    return {
      id,
      accountId: row.account_id,
      date: row.date,
      automatic: row.automatic,
      identityKey: row.identity_key.toString('hex'),
      attachments: attachments.map(toStoredAttachment),
    };
  };
}

const READ_EMAIL = statement(
  'reparse-read',
  'select account_id, date, automatic, identity_key from emails where id = $id and identity_key is not null',
).narrow<{ identity_key: Buffer }>();

const READ_ATTACHMENTS = statement(
  'reparse-attachments',
  `select id, filename, content_type, size_bytes, storage_path, sha256, content_id, inline from email_attachments
  where email_id = $id order by ordinal`,
);

/** See `ReparseStore.replace`. For inLinkingTransaction: the locks and their order decide whether it may wait. */
export async function replaceReading(
  executor: Executor,
  email: ReadEmail,
  reading: Reading,
  dryRun: boolean,
  exclusive: boolean,
): Promise<ReplaceResult> {
  const reread = await compareReading(executor, email.id, toContent(reading));
  if (reread === null) return { kind: 'gone' };
  const { before } = reread;
  const hasOtherAttachments = !sameAttachments(email.attachments, reading.attachments);
  const fields = [...before.changed, ...(hasOtherAttachments ? ['attachments'] : [])];
  const known = fields.length === 0 ? null : await findOther(executor, email, reading);
  if (fields.length === 0 || known !== null || dryRun) {
    await forgetReading(executor, email.id, reread);
    if (fields.length === 0) return { kind: 'unchanged' };
    return known === null ? { kind: 'changed', fields } : { kind: 'same_as', emailId: known.id };
  }

  // Before the email is locked: a merge locks the threads, then their emails.
  const isLinked = fields.some((field) => LINKING.has(field));
  const isOfOthers = fields.some((field) => PEOPLE.has(field));
  const place = isLinked ? await link(executor, email, reading, before, exclusive) : null;
  if (isOfOthers && !isLinked) await lockThreadOf(executor, email.id);
  await writeReading(executor, email, reread, hasOtherAttachments);
  if (place !== null) {
    await moveEmails(executor, [{ id: email.id, from: before.thread_id, to: place.threadId }]);
    if (place.reason !== null) await setReasons(executor, [{ id: email.id, ...place.reason }]);
  }
  if (isLinked || fields.some((field) => WRITER.has(field))) await judgeAgain(executor, email.id);
  if (isLinked || isOfOthers) {
    await relinkCustomers(executor, [...new Set([before.thread_id, place?.threadId ?? before.thread_id])]);
  }
  if (reading.report !== null && before.direction === 'inbound') {
    await addReport(executor, email.id, email.accountId, reading.report);
  }
  return { kind: 'changed', fields };
}

/** The record of another email with the identity that the message turns out to have; null for none. */
async function findOther(
  executor: Executor,
  { id, accountId }: ReadEmail,
  { identity, identityKey: key }: Reading,
): Promise<KnownEmail | null> {
  const [known = null] = await findRecorded(executor, [
    { accountId, identity, key, sharedKey: null, content: null },
  ]);
  return known?.id === id ? null : known;
}

/** Changes of these fields lead to other threads. */
const LINKING: ReadonlySet<string> = new Set([
  'message_id',
  'relay_message_id',
  'in_reply_to',
  'reference_ids',
  'bounced_message_id',
  'meeting_keys',
]);

/** Changes of these fields, and of links, may show another writer. */
const WRITER: ReadonlySet<string> = new Set(['automatic', 'from_address']);

/** Changes of these fields lead to other customers. */
const PEOPLE: ReadonlySet<string> = new Set([
  'from_address',
  'to_addresses',
  'cc_addresses',
  'bcc_addresses',
]);

interface NewPlace {
  readonly threadId: string;
  /** null: the reason stays. */
  readonly reason: Omit<EmailReason, 'id'> | null;
}

/** The new place of the email; null for an email whose thread an operator decided: it stays there. */
async function link(
  executor: Executor,
  { id, accountId }: ReadEmail,
  { identity, otherMessageId, links, date }: Reading,
  before: Rereading['before'],
  exclusive: boolean,
): Promise<NewPlace | null> {
  const named = links.filter(({ rule }) => rule !== 'message_id');
  const tied = {
    id,
    messageIds: ownIdsOf({ identity, otherMessageId }),
    links: named.map(({ messageId }) => messageId),
    meetingKeys: before.meeting_keys,
    isSend: false,
    date,
    anchorId: null,
  };
  const { byId } = await readTies(executor, { accountId, email: tied });
  const { rule, matchedMessageId } = placeInbound(named, byId);
  const { threadId } = await linkThread(executor, {
    accountId,
    threadId: before.thread_id,
    email: tied,
    customer: null,
    mayMerge: !before.is_decided,
    exclusive,
  });
  if (before.is_decided) return null;
  const isFirstReason = before.placement_rule === 'new' && rule !== 'new';
  return { threadId, reason: isFirstReason ? { rule, messageId: matchedMessageId } : null };
}

function sameAttachments(before: readonly StoredAttachment[], now: readonly StoredAttachment[]): boolean {
  const key = ({ id, contentType, contentId, inline }: StoredAttachment) =>
    JSON.stringify([id, contentType, contentId, inline]);
  return before.map(key).join('\n') === now.map(key).join('\n');
}
