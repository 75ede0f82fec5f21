/** Finds the records of emails by what identifies them: for any number of emails, in one round trip. */
import { CompiledQuery, type Kysely } from 'kysely';
import type { QueryResultRow } from 'pg';
import type { KnownEmail } from '../../app/inbound-ports.ts';
import type { AddressView } from '../../app/ports.ts';
import { isCopyOfSent, type MessageIdentity } from '../../core/message/identity.ts';
import type { Database } from './database.ts';
import { toMessageId } from './rows.ts';

export interface Sought {
  readonly accountId: string;
  readonly identity: MessageIdentity;
  /** See identityKey. */
  readonly key: string;
}

interface RecordedRow extends QueryResultRow {
  /** Which of the sought ones, from 1. */
  ordinal: string;
  id: string;
  thread_id: string;
  direction: KnownEmail['direction'];
  state: KnownEmail['state'];
  /** It was sent by this service: it has no key. */
  is_send: boolean;
  message_id: string;
  date: Date;
  from_address: AddressView;
  subject: string;
}

/** The record of each, in their order; null for one that is not recorded. As a part of a transaction, or without one. */
export function findRecorded(
  db: Kysely<Database>,
  sought: readonly Sought[],
): Promise<readonly (KnownEmail | null)[]> {
  return findRecordedBy(
    async (text, values) =>
      (await db.executeQuery(CompiledQuery.raw(text, values) as CompiledQuery<RecordedRow>)).rows,
    sought,
  );
}

/** @param query runs the statement, which is always the same */
export async function findRecordedBy(
  query: (text: string, values: unknown[]) => Promise<readonly RecordedRow[]>,
  sought: readonly Sought[],
): Promise<readonly (KnownEmail | null)[]> {
  const rows = await query(FIND_RECORDED, [
    sought.map(({ accountId }) => accountId),
    sought.map(({ key }) => Buffer.from(key, 'hex')),
    sought.map(({ identity }) => identity.messageId),
  ]);
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
    };
  }
  return found;
}

function isCopy(identity: MessageIdentity, { date, from_address, subject }: RecordedRow): boolean {
  return isCopyOfSent(identity, { date, from: from_address.address, subject });
}

/** Sent emails with one Message-ID; more than one is somebody's mistake. */
const MAX_SENDS_OF_ONE_ID = 10;

const COLUMNS = `id, thread_id, direction, state, identity_key is null as is_send, message_id, date, from_address,
      subject`;
const SENDS = `direction = 'outbound' and identity_key is null`;

/** $1 accounts, $2 identity keys, $3 Message-IDs. Each branch is one look into one index, whatever the statistics say. */
const FIND_RECORDED = `
  select n.ordinal, e.*
  from unnest($1::text[], $2::bytea[], $3::text[]) with ordinality n (account_id, key, message_id, ordinal)
  cross join lateral (
    (select ${COLUMNS} from emails where account_id = n.account_id and identity_key = n.key)
    union all
    (select ${COLUMNS} from emails
      where account_id = n.account_id and message_id = n.message_id and ${SENDS}
      order by id limit ${MAX_SENDS_OF_ONE_ID})
    union all
    (select ${COLUMNS} from emails
      where account_id = n.account_id and relay_message_id = n.message_id and ${SENDS}
      order by id limit ${MAX_SENDS_OF_ONE_ID})
  ) e
  order by n.ordinal, e.id`;
