/** Finds the records of emails by their identifying values: for any number of emails, in one round trip. */
import type { EmailState } from '../../core/delivery/states.ts';
import type { MessageId } from '../../core/message/message-id.ts';
import type { AddressView } from '../../core/address/address-view.ts';
import {
  contentKeys,
  isCopyOfSent,
  deletionKeys,
  keysOfDeletion,
  type KeyedContent,
  type MessageIdentity,
} from '../../core/message/identity.ts';
import { SOMETHING_WAS_DELETED } from './deleted-emails.ts';
import { toMessageId } from './message-id-column.ts';
import { jsonRows, type JsonOf } from '../../platform/db/json.ts';
import { run, statement, type Executor, type RowOf } from '../../platform/db/statement.ts';

/** An email that is recorded already. */
export interface KnownEmail {
  readonly id: string;
  readonly messageId: MessageId;
  readonly threadId: string;
  readonly direction: 'inbound' | 'outbound';
  readonly state: EmailState;
  /** The digest of its recorded content; null for an email that this service composed. */
  readonly contentDigest: string | null;
  /** It was deleted: only its thread and its identity are still known. */
  readonly isDeleted: boolean;
}

/** The identifying values of an email that is looked up. */
export interface SoughtEmail {
  readonly accountId: string;
  readonly identity: MessageIdentity;
  /** The first of its keys that is asked for. */
  readonly key: string;
  /** See `InboundRecord` of areas/receive/inbound-ports.ts. */
  readonly sharedKey: string | null;
  /** null: not known. Of a deleted email only that content is deleted, unless this service composed it. */
  readonly content: KeyedContent | null;
}

type RecordedRow = RowOf<typeof FIND_RECORDED> | RecordedJson;

/** The record of each email, in their order; null for one that is not recorded. Works within a transaction, or without one. */
export async function findRecorded(
  executor: Executor,
  sought: readonly SoughtEmail[],
): Promise<readonly (KnownEmail | null)[]> {
  return toKnownEmails(sought, await run(executor, FIND_RECORDED, recordedValues(sought)));
}

/** @param rows the result of FIND_RECORDED or RECORDED */
export function toKnownEmails(
  sought: readonly SoughtEmail[],
  rows: readonly RecordedRow[],
): readonly (KnownEmail | null)[] {
  const found: (KnownEmail | null)[] = sought.map(() => null);
  for (const row of rows) {
    const index = Number(row.ordinal) - 1;
    const wanted = sought[index];
    if (wanted === undefined || found[index] !== null) continue;
    if (row.is_send && !isCopy(wanted.identity, row)) continue;
    found[index] = {
      id: row.id,
      messageId: toMessageId(row.message_id),
      threadId: row.thread_id,
      direction: row.direction,
      state: row.state,
      contentDigest: row.content_digest,
      isDeleted: row.is_deleted,
    };
  }
  return found;
}

function isCopy(identity: MessageIdentity, { date, from_address, subject }: RecordedRow): boolean {
  return isCopyOfSent(identity, { date: new Date(date), from: from_address.address, subject });
}

/** Sent emails with one Message-ID; more than one is a mistake of the caller. */
const MAX_SENDS_OF_ONE_ID = 10;

const COLUMNS = `id, thread_id, direction, state, identity_key is null as is_send, message_id::text, date,
      from_address, subject, encode(content_digest, 'hex') as content_digest, false as is_deleted`;
const SENDS = `direction = 'outbound' and identity_key is null`;

/** Each branch is one lookup in one index, whatever the statistics say. Its parameters are recordedValues. */
const QUERY = `
  select n.ordinal, e.*
  from unnest($accountIds::text[], $keys::bytea[], $secondKeys::bytea[], $thirdKeys::bytea[], $deletions::bytea[],
    $otherDeletions::bytea[], $messageIds::text[])
    with ordinality n (account_id, key, second_key, third_key, deletion, other_deletion, message_id, ordinal)
  cross join lateral (
    (select ${COLUMNS}, 0 as preference from emails where account_id = n.account_id and identity_key = n.key)
    union all
    (select ${COLUMNS}, 1 from emails where account_id = n.account_id and identity_key = n.second_key)
    union all
    (select ${COLUMNS}, 2 from emails where account_id = n.account_id and identity_key = n.third_key)
    union all
    (select ${COLUMNS}, 0 from emails
      where account_id = n.account_id and message_id = n.message_id and ${SENDS}
      order by id limit ${MAX_SENDS_OF_ONE_ID})
    union all
    (select ${COLUMNS}, 0 from emails
      where account_id = n.account_id and relay_message_id = n.message_id and ${SENDS}
      order by id limit ${MAX_SENDS_OF_ONE_ID})
    union all
    (select d.id, d.thread_id, 'inbound', 'received', false, n.message_id, d.deleted_at, '{}'::jsonb, '', null, true, 3
      from deleted_identities i join deleted_emails d on d.id = i.email_id
      where ${SOMETHING_WAS_DELETED} and i.account_id = n.account_id
        and i.digest = any (array[keyed_digest(n.key), keyed_digest(n.deletion), keyed_digest(n.other_deletion)]))
  ) e
  order by n.ordinal, e.preference, e.id`;

export function recordedValues(sought: readonly SoughtEmail[]) {
  const keys = sought.map((email) => ({ records: recordKeys(email), deletions: deletionsOf(email) }));
  // A key is repeated where there is none in its place.
  const toBytes = (list: 'records' | 'deletions', index: number) =>
    keys.map((one) => Buffer.from(one[list][index] ?? one[list][0] ?? '', 'hex'));
  return {
    accountIds: sought.map(({ accountId }) => accountId),
    keys: toBytes('records', 0),
    secondKeys: toBytes('records', 1),
    thirdKeys: toBytes('records', 2),
    deletions: toBytes('deletions', 1),
    otherDeletions: toBytes('deletions', 2),
    messageIds: sought.map(({ identity }) => identity.messageId),
  };
}

/** The keys under which the email may be recorded, from the one that is asked for on. */
function recordKeys({ key, sharedKey, content }: SoughtEmail): readonly string[] {
  if (content === null) return [key];
  if (sharedKey === null) return [key, ...contentKeys(key, content)];
  const keys = contentKeys(sharedKey, content);
  const at = keys.indexOf(key);
  return at === -1 ? [key] : keys.slice(at);
}

/** What the deletion of the email may be remembered by. */
const deletionsOf = ({ key, sharedKey, content }: SoughtEmail): readonly string[] =>
  content === null ? [key] : [key, ...keysOfDeletion(sharedKey ?? key, content)];

/** Also the keys by which copies of the email that come by lists are found. */
export const allDeletionsOf = (email: SoughtEmail): readonly string[] => {
  const { key, sharedKey, content } = email;
  const written = content === null ? [] : deletionKeys(sharedKey ?? key, content);
  return [...deletionsOf(email), ...written];
};

interface RecordedColumns {
  id: string;
  thread_id: string;
  direction: KnownEmail['direction'];
  state: KnownEmail['state'];
  is_send: boolean;
  message_id: string;
  from_address: AddressView;
  subject: string;
  is_deleted: boolean;
}

const FIND_RECORDED = statement('find-recorded', QUERY).narrow<
  RecordedColumns & { ordinal: string; date: Date }
>();

/** The result of FIND_RECORDED, for a statement that asks for more at once. */
export const RECORDED = jsonRows('recorded-json', QUERY).narrow<
  RecordedColumns & { ordinal: number; date: string }
>();
export type RecordedJson = JsonOf<typeof RECORDED>;
