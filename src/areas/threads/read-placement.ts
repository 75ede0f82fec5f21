/** `PlacementStore` on PostgreSQL: several reads of one snapshot. Made for occasional questions of people. */
import type { Pool } from 'pg';
import type { PlacedEmail, PlacementDecision, PlacementFact, PlacementStore } from './placement-facts.ts';
import type { MessageId } from '../../core/message/message-id.ts';
import { chainBetween, type Tie } from '../../core/thread/link-chain.ts';
import { idOfPoint } from '../../core/thread/meeting-points.ts';
import { resolveEmails } from '../emails/email-aliases.ts';
import { inTransaction } from '../../platform/db/transaction.ts';
import { toMessageId } from '../emails/message-id-column.ts';
import { threadOfLink } from './message-ids.ts';
import { refusedOf } from './refused-merge-store.ts';
import { namesOf, readThreadGraph, type StoredEmail, type ThreadGraph } from './thread-graph.ts';
import { run, statement, type Executor, type RowOf } from '../../platform/db/statement.ts';

/** Emails of a thread among which a chain is looked for: some tens of milliseconds. */
const MAX_CHAIN_EMAILS = 10_000;
const MAX_MATCHED = 10;
const MAX_EVENTS = 100;

export function createPlacementStore(pool: Pool): PlacementStore {
  return {
    readPlacement: (emailId) => inTransaction(pool, (trx) => readPlacement(trx, emailId), 'snapshot'),
  };
}

async function readPlacement(trx: Executor, given: string): Promise<PlacementFact | null> {
  const [emailId = given] = await resolveEmails(trx, [given]);
  const rows = await run(trx, READ_PLACEMENT, { emailId });
  const [row] = rows;
  if (row === undefined) return null;
  const isLong = Number(row.email_count) > MAX_CHAIN_EMAILS;
  const graph = isLong ? null : await readThreadGraph(trx, row.account_id, [row.thread_id]);
  const { matched } = row;
  return {
    emailId,
    messageId: row.message_id,
    accountId: row.account_id,
    threadId: row.thread_id,
    rule: row.rule,
    matchedMessageId: matched === null ? null : toMessageId(matched),
    matchedThreadId: row.matched_thread,
    matchedEmails: matched === null ? [] : await readBearers(trx, row.account_id, matched),
    firstNamedBy: graph === null || matched === null ? null : await readFirstNamer(trx, graph, matched),
    chain: graph === null ? null : chainOf(graph, emailId),
    merges: await readMerges(trx, row.thread_id),
    decisions: await readDecisions(trx, emailId, row.thread_id),
    refused: await refusedOf(trx, emailId, MAX_EVENTS),
  };
}

function chainOf(graph: ThreadGraph, emailId: string): readonly Tie[] | null {
  const [first] = graph.emails;
  const { written } = namesOf(graph);
  // Labels that also occur in other threads tie nothing here. The email beside which a send was put is stored if its sender named the
  // thread; for other sends, the email that they answer shows it.
  const nodesOf = (email: StoredEmail, messageId: string) => graph.nodesOf(messageId, email).map(written);
  const emails = graph.emails.map((email) => ({
    ...email,
    messageIds: email.messageIds.map(written),
    namedLinks: email.namedLinks.flatMap(({ rule, messageId }) =>
      nodesOf(email, messageId).map((name) => ({ rule, messageId: name as MessageId })),
    ),
    anchorId: email.rule === 'thread_id' ? email.anchorId : null,
  }));
  const labels = new Map([...graph.messageIds].map(([id, label]) => [written(id), label]));
  const chain = first === undefined ? null : chainBetween(emails, labels, emailId, first.id);
  const idOf = ({ messageId }: Tie) => (messageId === null ? null : idOfPoint(messageId));
  return chain === null ? null : chain.map((tie) => ({ ...tie, messageId: idOf(tie) }));
}

const toPlaced = (row: RowOf<typeof READ_BEARERS>): PlacedEmail => ({
  id: row.id,
  messageId: row.message_id,
  direction: row.direction,
  date: row.date,
});

async function readBearers(
  trx: Executor,
  accountId: string,
  messageId: string,
): Promise<readonly PlacedEmail[]> {
  const rows = await run(trx, READ_BEARERS, { accountId, messageId });
  return rows.map(toPlaced);
}

async function readFirstNamer(
  trx: Executor,
  graph: ThreadGraph,
  messageId: string,
): Promise<PlacedEmail | null> {
  const namer = graph.emails.find(({ namedLinks }) =>
    namedLinks.some((link) => link.messageId === messageId),
  );
  if (namer === undefined) return null;
  const rows = await run(trx, READ_NAMER, { id: namer.id });
  return rows[0] === undefined ? null : toPlaced(rows[0]);
}

async function readMerges(trx: Executor, threadId: string): Promise<PlacementFact['merges']> {
  const rows = await run(trx, READ_MERGES, { threadId });
  return rows.map((row) => ({ threadId: row.id, mergedAt: row.merged_at }));
}

async function readDecisions(
  trx: Executor,
  emailId: string,
  threadId: string,
): Promise<readonly PlacementDecision[]> {
  const rows = await run(trx, READ_DECISIONS, { threadId, emailId });
  return rows.map((row) => ({
    id: row.id,
    kind: row.kind,
    threadId: row.thread_id,
    otherThreadId: row.other_thread_id,
    namesEmail: row.names_email,
    reason: row.reason,
    decidedAt: row.decided_at,
  }));
}

const READ_PLACEMENT = statement(
  'read-placement',
  `select e.message_id, e.account_id, e.thread_id, e.placement_rule as rule, e.placement_message_id as matched,
      ${threadOfLink('e', 'e.placement_message_id', 'there')} as matched_thread,
      (select count(*) from emails t where t.thread_id = e.thread_id) as email_count
    from emails e where e.id = $emailId`,
).narrow<{ email_count: string }>();

const READ_BEARERS = statement(
  'read-bearers',
  `select id, message_id, direction, date from emails
    where account_id = $accountId and (message_id = $messageId or relay_message_id = $messageId)
    order by date, id limit ${MAX_MATCHED}`,
);

const READ_NAMER = statement(
  'read-namer',
  `select id, message_id, direction, date from emails where id = $id`,
);

const READ_DECISIONS = statement(
  'decisions-about-email',
  `with ids as (
      select $threadId::uuid as id union select id from thread_aliases where thread_id = $threadId
    )
    select id, kind, thread_id, other_thread_id, email_ids @> array[$emailId::uuid] as names_email, reason, decided_at
    from thread_decisions d
    where d.id in (
      select id from thread_decisions where email_ids @> array[$emailId::uuid]
      union select id from thread_decisions where thread_id in (select id from ids)
      union select id from thread_decisions where other_thread_id in (select id from ids)
    )
    order by decided_at desc, id desc limit ${MAX_EVENTS}`,
).narrow<{ names_email: boolean }>();

const READ_MERGES = statement(
  'merges-into-thread',
  `select id, merged_at from thread_aliases where thread_id = $threadId order by merged_at desc, id limit ${MAX_EVENTS}`,
);
