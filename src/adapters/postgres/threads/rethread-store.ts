/** `RethreadStore` on PostgreSQL: reads everything of one snapshot page by page, and settles threads one by one. */
import { sql, type Kysely, type Transaction } from 'kysely';
import type {
  RethreadStore,
  ThreadChanges,
  ThreadMove,
  ThreadSnapshot,
} from '../../../app/threads/rethread.ts';
import type { ScannedEmail } from '../../../core/thread/thread-scan.ts';
import type { Reason } from '../../../core/thread/why-moved.ts';
import type { Database } from '../db/database.ts';
import { lockLinks } from './link-thread.ts';
import { inLinkingTransaction } from '../db/linking-transaction.ts';
import { guard } from '../db/pool.ts';
import { carryOut, reasonsOf, weighThreads, type Settlement } from './settle-threads.ts';
import { namedLinksOf, type NamedIdsRow } from './thread-graph.ts';

/** Rows of one page: some megabytes, with the longest References that are read. */
const PAGE = 2000;

export function createRethreadStore(db: Kysely<Database>): RethreadStore {
  return {
    inSnapshot: (work) =>
      guard(
        db
          .transaction()
          .setIsolationLevel('repeatable read')
          .setAccessMode('read only')
          .execute((trx) => work(createSnapshot(trx))),
      ),

    settle: (threadIds) =>
      inLinkingTransaction(db, async (trx) => {
        const accountId = await accountOf(trx, threadIds);
        if (accountId === null) return NOTHING;
        await lockLinks(trx, accountId);
        const settlement = await weighThreads(trx, accountId, threadIds, { lock: true });
        const changes = changesOf(settlement);
        await carryOut(trx, accountId, settlement);
        return changes;
      }),
  };
}

const NOTHING: ThreadChanges = { moves: [], merged: [], messageIds: 0 };

function createSnapshot(trx: Transaction<Database>): ThreadSnapshot {
  return {
    messageIds: () => readMessageIds(trx),
    emails: () => readEmails(trx),
    async clusters() {
      const { rows } = await sql<{ ids: string[] }>`
        select array_agg(id order by id) as ids from email_threads
        where cluster_id is not null group by cluster_id`.execute(trx);
      return rows.map(({ ids }) => ids);
    },
    async weigh(threadIds) {
      const accountId = await accountOf(trx, threadIds);
      if (accountId === null) return NOTHING;
      return changesOf(await weighThreads(trx, accountId, threadIds, { lock: false }));
    },
  };
}

/** null when none of the threads is left. */
async function accountOf(trx: Transaction<Database>, threadIds: readonly string[]): Promise<string | null> {
  const { rows } = await sql<{ account_id: string }>`
    select account_id from email_threads where id = any(${[...threadIds]}::uuid[]) limit 1`.execute(trx);
  return rows[0]?.account_id ?? null;
}

async function* readMessageIds(trx: Transaction<Database>): ReturnType<ThreadSnapshot['messageIds']> {
  let after = { account_id: '', message_id: '' };
  for (;;) {
    const { rows } = await sql<{ account_id: string; message_id: string; thread_id: string }>`
      select account_id, message_id, thread_id from thread_message_ids
      where (account_id, message_id) > (${after.account_id}, ${after.message_id})
      order by account_id, message_id limit ${PAGE}`.execute(trx);
    const last = rows.at(-1);
    if (last === undefined) return;
    yield rows.map((row) => ({
      accountId: row.account_id,
      messageId: row.message_id,
      threadId: row.thread_id,
    }));
    after = last;
  }
}

interface EmailRow extends NamedIdsRow {
  id: string;
  account_id: string;
  thread_id: string;
  message_id: string;
  relay_message_id: string | null;
  anchor_message_id: string | null;
}

async function* readEmails(trx: Transaction<Database>): AsyncGenerator<readonly ScannedEmail[]> {
  let after = '00000000-0000-0000-0000-000000000000';
  for (;;) {
    const { rows } = await sql<EmailRow>`
      select e.id, e.account_id, e.thread_id, e.message_id, e.relay_message_id, e.in_reply_to, e.reference_ids,
        e.bounced_message_id, e.placement_rule, e.placement_message_id, e.ignored_ids,
        a.message_id as anchor_message_id
      from emails e left join emails a on a.id = e.anchor_id
      where e.id > ${after} order by e.id limit ${PAGE}`.execute(trx);
    const last = rows.at(-1);
    if (last === undefined) return;
    yield rows.map((row) => ({
      accountId: row.account_id,
      threadId: row.thread_id,
      messageIds: row.relay_message_id === null ? [row.message_id] : [row.message_id, row.relay_message_id],
      links: namedLinksOf(row).map(({ messageId }) => messageId),
      anchorMessageId: row.anchor_message_id,
    }));
    after = last.id;
  }
}

/** What the settlement says, for people. */
function changesOf(settlement: Settlement): ThreadChanges {
  const { plan } = settlement;
  const made = new Set(plan.made);
  return {
    moves: reasonsOf(settlement).map(({ email, move, reason }): ThreadMove => ({
      emailId: email.id,
      messageId: email.messageIds[0] ?? '',
      from: email.threadId,
      to: made.has(move.to) ? null : move.to,
      why: describe(reason),
    })),
    merged: plan.merged,
    messageIds: plan.messageIds.length,
  };
}

function describe({ rule, messageId }: Reason): string {
  switch (rule) {
    case 'decision':
      return 'an operator decided so';
    case 'new':
      return 'nothing that it names leads to its thread';
    case 'message_id':
      return `its own Message-ID <${messageId}> belongs there`;
    case 'subject':
      return `it was joined to <${messageId}> by its subject`;
    case 'bounce':
      return `it reports on <${messageId}>`;
    case 'in_reply_to':
      return `it answers <${messageId}>`;
    case 'references':
      return `its References name <${messageId}>`;
  }
}
