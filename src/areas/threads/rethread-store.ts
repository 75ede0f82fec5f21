/** `RethreadStore` on PostgreSQL: reads one snapshot of everything page by page, and arranges threads one by one. */
import type { Pool } from 'pg';
import type { RethreadStore, ThreadChanges, ThreadMove, ThreadSnapshot } from './rethread.ts';
import type { ScannedEmail } from '../../core/thread/thread-scan.ts';
import type { Reason } from '../../core/thread/why-moved.ts';
import { deletedMessageId } from '../../core/erase/deleted-message-id.ts';
import { SOMETHING_WAS_DELETED } from '../emails/deleted-emails.ts';
import { lockLinks } from './link-thread.ts';
import { inLinkingTransaction } from '../../platform/db/linking-transaction.ts';
import { inTransaction } from '../../platform/db/transaction.ts';
import { carryOut, reasonsOf, weighThreads, type Arrangement } from './arrange-threads.ts';
import { namedLinksOf } from './thread-graph.ts';
import { run, statement, type Executor } from '../../platform/db/statement.ts';

/** Rows of one page: some megabytes, with the longest References that are read. */
const PAGE = 2000;

export function createRethreadStore(pool: Pool): RethreadStore {
  return {
    inSnapshot: (work) => inTransaction(pool, (trx) => work(createSnapshot(trx)), 'snapshot'),

    arrange: (threadIds) =>
      inLinkingTransaction(pool, async (trx) => {
        const accountId = await accountOf(trx, threadIds);
        if (accountId === null) return NOTHING;
        await lockLinks(trx, accountId);
        const arrangement = await weighThreads(trx, accountId, threadIds, { lock: true });
        const changes = changesOf(arrangement);
        await carryOut(trx, accountId, arrangement);
        return changes;
      }),
  };
}

const NOTHING: ThreadChanges = { moves: [], merged: [], messageIds: 0 };

function createSnapshot(trx: Executor): ThreadSnapshot {
  return {
    messageIds: () => readMessageIds(trx),
    async standIns() {
      const [row] = await run(trx, READ_DIGEST_KEY);
      if (row === undefined) return (name) => name;
      const key = { inner: row.inner_key, outer: row.outer_key };
      return (name) => deletedMessageId(key, name);
    },
    emails: () => readEmails(trx),
    async clusters() {
      const rows = await run(trx, READ_CLUSTERS);
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
async function accountOf(trx: Executor, threadIds: readonly string[]): Promise<string | null> {
  const rows = await run(trx, ACCOUNT_OF, { threadIds });
  return rows[0]?.account_id ?? null;
}

async function* readMessageIds(trx: Executor): ReturnType<ThreadSnapshot['messageIds']> {
  let after = { account_id: '', message_id: '' };
  for (;;) {
    const rows = await run(trx, READ_MESSAGE_IDS, {
      afterAccount: after.account_id,
      afterMessageId: after.message_id,
    });
    const last = rows.at(-1);
    if (last === undefined) return;
    yield rows.map((row) => ({
      accountId: row.account_id,
      messageId: row.message_id,
      threadId: row.thread_id,
      waitsFor: row.waits_for,
    }));
    after = last;
  }
}

async function* readEmails(trx: Executor): AsyncGenerator<readonly ScannedEmail[]> {
  let after = '00000000-0000-0000-0000-000000000000';
  for (;;) {
    const rows = await run(trx, READ_EMAILS, { after });
    const last = rows.at(-1);
    if (last === undefined) return;
    yield rows.map((row) => ({
      accountId: row.account_id,
      threadId: row.thread_id,
      messageIds: row.relay_message_id === null ? [row.message_id] : [row.message_id, row.relay_message_id],
      meetingKeys: row.meeting_keys,
      isSend: row.is_send,
      links: namedLinksOf(row).map(({ messageId }) => messageId),
      anchor:
        row.anchor_message_id === null
          ? null
          : {
              messageIds: [row.anchor_message_id],
              meetingKeys: row.anchor_keys ?? [],
              isSend: row.is_anchor_send,
            },
    }));
    after = last.id;
  }
}

/** The changes of an arrangement, for people to read. */
function changesOf(arrangement: Arrangement): ThreadChanges {
  const { plan } = arrangement;
  const made = new Set(plan.made);
  return {
    moves: reasonsOf(arrangement).map(({ email, move, reason }): ThreadMove => ({
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

const READ_CLUSTERS = statement(
  'rethread-clusters',
  `select array_agg(id order by id) as ids from email_threads
        where cluster_id is not null group by cluster_id`,
).narrow<{ ids: string[] }>();

const ACCOUNT_OF = statement(
  'account-of-threads',
  `select account_id from email_threads where id = any($threadIds::uuid[]) limit 1`,
);

const READ_DIGEST_KEY = statement(
  'rethread-digest-key',
  `select inner_key, outer_key from digest_key where ${SOMETHING_WAS_DELETED}`,
);

const READ_MESSAGE_IDS = statement(
  'rethread-message-ids',
  `select account_id, message_id, thread_id, waits_for from thread_message_ids
      where thread_id is not null and (account_id, message_id) > ($afterAccount, $afterMessageId)
      order by account_id, message_id limit ${PAGE}`,
).narrow<{ thread_id: string }>();

const READ_EMAILS = statement(
  'rethread-emails',
  `select e.id, e.account_id, e.thread_id, e.message_id, e.relay_message_id, e.in_reply_to, e.reference_ids,
        e.bounced_message_id, e.placement_rule, e.placement_message_id, e.ignored_ids, e.meeting_keys,
        e.identity_key is null as is_send, a.message_id as anchor_message_id, a.meeting_keys as anchor_keys,
        a.identity_key is null as is_anchor_send
      from emails e left join emails a on a.id = e.anchor_id
      where e.id > $after order by e.id limit ${PAGE}`,
).narrow<{ is_send: boolean; is_anchor_send: boolean }>();
