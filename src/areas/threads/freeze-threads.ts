/** Writes the effects of a decision: the labels of everything in its threads, and the labels that stay apart. */
import { randomUUID } from 'node:crypto';
import { separationsAfter, type Pair } from '../../core/thread/decide.ts';
import { DisjointSets } from '../../core/thread/disjoint-sets.ts';
import { joinCluster } from '../emails/thread-rows.ts';
import type { Bond } from './message-ids.ts';
import { run, statement, type Executor, type RowOf } from '../../platform/db/statement.ts';

export interface Freeze {
  readonly accountId: string;
  readonly decisionId: string;
  /** The threads that the decision concerns, before it. */
  readonly threadIds: readonly string[];
  /** The thread that every Message-ID of these threads has from now on. */
  readonly threadsOfIds: ReadonlyMap<string, string>;
  /** The threads that emails with labels of their own have from now on. */
  readonly threadsOfEmails: ReadonlyMap<string, string>;
  /** See separationsAfter; keyed by thread. */
  readonly heirs: ReadonlyMap<string, readonly string[]>;
  readonly apart: readonly Pair[];
}

/** Call it before anything moves. */
export async function freezeThreads(trx: Executor, freeze: Freeze): Promise<void> {
  const { accountId, threadIds, threadsOfIds, threadsOfEmails, heirs, apart } = freeze;
  const threadOfLabel = await readLabels(trx, threadIds);
  const old = [...threadOfLabel.keys()];
  const before = await takeSeparations(trx, old);
  const labels = new Map<string, string>();
  /** For a thread of the decision, a new label; any other value is the label of another thread. */
  const labelOf = (thread: string): string => {
    const label = labels.get(thread) ?? randomUUID();
    labels.set(thread, label);
    return label;
  };
  await labelMessageIds(
    trx,
    accountId,
    new Map([...threadsOfIds].map(([id, thread]) => [id, labelOf(thread)])),
  );
  await relabelEmails(trx, threadIds, threadsOfEmails, heirs, labelOf);

  const byThread = before.map(([a, b]): Pair => [threadOfLabel.get(a) ?? a, threadOfLabel.get(b) ?? b]);
  const known = new Set([...threadIds, ...[...heirs.values()].flat()]);
  const pairs = separationsAfter(byThread, heirs, apart).map((pair) =>
    pair.map((end) => (known.has(end) ? labelOf(end) : end)).sort(),
  );
  if (pairs.length > 0) {
    await run(trx, SEPARATE, {
      labels: pairs.map(([a = null]) => a),
      others: pairs.map(([, b = null]) => b),
    });
  }
  await cluster(trx, [...known], pairs.length > 0 ? freeze.decisionId : null);
}

/** The labels in the threads, each with its thread. */
async function readLabels(trx: Executor, threadIds: readonly string[]): Promise<ReadonlyMap<string, string>> {
  const rows = await run(trx, READ_LABELS, { threadIds });
  return new Map(rows.map((row) => [row.label, row.thread_id]));
}

async function takeSeparations(trx: Executor, labels: readonly string[]): Promise<readonly Pair[]> {
  const rows = await run(trx, TAKE_SEPARATIONS, { labels });
  return rows.map((row) => [row.label, row.other_label] as const);
}

/** @param labels of the Message-IDs */
export async function labelMessageIds(
  trx: Executor,
  accountId: string,
  labels: ReadonlyMap<string, string>,
): Promise<void> {
  await run(trx, LABEL_MESSAGE_IDS, {
    accountId,
    messageIds: [...labels.keys()],
    labels: [...labels.values()],
  });
}

/** See threadsOfLabelled; emails that have labels of their own get new ones. */
async function relabelEmails(
  trx: Executor,
  threadIds: readonly string[],
  threadsOfEmails: Freeze['threadsOfEmails'],
  heirs: Freeze['heirs'],
  labelOf: (thread: string) => string,
): Promise<void> {
  const rows = await run(trx, READ_LABELLED, { threadIds });
  const threads = new Map(rows.map((row) => [row.id, heirs.get(row.thread_id)?.[0] ?? row.thread_id]));
  for (const [id, thread] of threadsOfEmails) threads.set(id, thread);
  if (threads.size === 0) return;
  const labels = [...threads.values()].map(labelOf);
  await run(trx, LABEL_EMAILS, { ids: [...threads.keys()], labels });
}

/** From now on the threads are weighed together, with all threads that were weighed together with one of them. */
async function cluster(
  trx: Executor,
  threadIds: readonly string[],
  newCluster: string | null,
): Promise<void> {
  const rows = await run(trx, READ_CLUSTER_IDS, { threadIds });
  const clusters = rows.flatMap(({ cluster_id }) => cluster_id ?? []).sort();
  const kept = clusters[0] ?? newCluster;
  if (kept === null) return;
  await joinCluster(trx, threadIds, clusters, kept);
}

const SEPARATE = statement(
  'separate-labels',
  `insert into label_separations (label, other_label)
      select * from unnest($labels::uuid[], $others::uuid[])
      on conflict do nothing`,
);

const READ_LABELS = statement(
  'labels-of-threads',
  `select l.label, m.thread_id
    from thread_message_ids m join message_id_labels l using (account_id, message_id)
    where m.thread_id = any($threadIds::uuid[])
    union
    select l.label, e.thread_id
    from emails e join email_labels l on l.email_id = e.id
    where e.thread_id = any($threadIds::uuid[])`,
).narrow<{ label: string; thread_id: string }>();

const TAKE_SEPARATIONS = statement(
  'take-separations',
  `delete from label_separations
    where label = any($labels::uuid[]) or other_label = any($labels::uuid[])
    returning label, other_label`,
);

const LABEL_MESSAGE_IDS = statement(
  'label-message-ids',
  `insert into message_id_labels (account_id, message_id, label)
    select $accountId, * from unnest($messageIds::text[], $labels::uuid[])
    on conflict (account_id, message_id) do update set label = excluded.label`,
);

const READ_LABELLED = statement(
  'labelled-emails',
  `select e.id, e.thread_id from emails e join email_labels l on l.email_id = e.id
    where e.thread_id = any($threadIds::uuid[])`,
);

const LABEL_EMAILS = statement(
  'label-emails',
  `insert into email_labels (email_id, label)
    select * from unnest($ids::uuid[], $labels::uuid[])
    on conflict (email_id) do update set label = excluded.label`,
);

const READ_CLUSTER_IDS = statement(
  'clusters-of-threads',
  'select distinct cluster_id from email_threads where id = any ($threadIds::uuid[]) and cluster_id is not null',
);

/** Applies a decision about Message-IDs to the names that stand in for them. @param messageIds see hideMessageIds */
export async function hideLabels(
  trx: Executor,
  accountId: string,
  messageIds: readonly string[],
): Promise<void> {
  if (messageIds.length > 0) await run(trx, HIDE_LABELS, { accountId, messageIds });
}

const HIDE_LABELS = statement(
  'hide-message-id-labels',
  `with hidden as (
    delete from message_id_labels where account_id = $accountId and message_id = any ($messageIds::text[])
    returning account_id, message_id, label
  )
  insert into message_id_labels (account_id, message_id, label)
  select account_id, deleted_message_id(message_id), label from hidden
  on conflict do nothing`,
);

/**
 * Keeps Message-IDs together that deleted emails tied within their threads, by labels like those of a decision. Call it after
 * hideMessageIds.
 *
 * @param bonds of the deleted emails, see readBonds
 */
export async function keepBonds(trx: Executor, bonds: readonly Bond[]): Promise<void> {
  const tied = bonds.flatMap(({ messageIds, ...bond }, index) =>
    messageIds.map((messageId) => ({ ...bond, messageId, bond: index })),
  );
  if (tied.length === 0) return;
  const rows = await run(trx, READ_TIED, {
    bonds: tied.map(({ bond }) => bond),
    accountIds: tied.map(({ accountId }) => accountId),
    threadIds: tied.map(({ threadId }) => threadId),
    messageIds: tied.map(({ messageId }) => messageId),
  });
  const labels = labelsOfBonds(rows);
  const given = rows.filter((row) => row.label === null && labels.ties(row));
  await run(trx, LABEL_TIED, {
    accountIds: given.map((row) => row.account_id),
    messageIds: given.map((row) => row.message_id),
    labels: given.map((row) => labels.of(row)),
  });
  const renamed = rows.filter((row) => row.label !== null && !row.is_apart && labels.of(row) !== row.label);
  const values = {
    threadIds: renamed.map((row) => row.thread_id),
    old: renamed.map((row) => row.label),
    labels: renamed.map((row) => labels.of(row)),
  };
  if (renamed.length === 0) return;
  await run(trx, RENAME_OF_IDS, values);
  await run(trx, RENAME_OF_EMAILS, values);
}

type Tied = RowOf<typeof READ_TIED>;

interface BondLabels {
  /** The label that the Message-ID gets: one that a decision keeps apart from others, else any existing one. */
  of(row: Tied): string;
  /** True if the Message-ID is tied to another one. */
  ties(row: Tied): boolean;
}

function labelsOfBonds(rows: readonly Tied[]): BondLabels {
  const numbers = new Map<string, number>();
  const sets = new DisjointSets();
  const numberOf = (key: string): number => {
    const number = numbers.get(key) ?? numbers.size;
    numbers.set(key, number);
    return number;
  };
  const bondOf = ({ bond }: Tied) => numberOf(`bond ${bond}`);
  for (const row of rows) {
    sets.join(bondOf(row), numberOf(`${row.thread_id} ${row.message_id}`));
    if (row.label !== null && !row.is_apart)
      sets.join(bondOf(row), numberOf(`${row.thread_id} ${row.label}`));
  }
  const groupOf = (row: Tied) => sets.find(bondOf(row));
  const idsOf = new Map<number, Set<string>>();
  const chosen = new Map<number, string>();
  for (const row of rows.toSorted((a, b) => Number(b.is_apart) - Number(a.is_apart))) {
    const group = groupOf(row);
    idsOf.set(group, (idsOf.get(group) ?? new Set()).add(row.message_id));
    if (row.label !== null && !chosen.has(group)) chosen.set(group, row.label);
  }
  return {
    of(row) {
      const label = chosen.get(groupOf(row)) ?? randomUUID();
      chosen.set(groupOf(row), label);
      return label;
    },
    ties: (row) => (idsOf.get(groupOf(row))?.size ?? 0) > 1,
  };
}

/** The Message-IDs that the emails tied and that are left in the threads. */
const READ_TIED = statement(
  'tied-message-ids',
  `select distinct n.bond, m.account_id, m.thread_id, m.message_id, l.label,
      exists (select from label_separations s where l.label in (s.label, s.other_label)) as is_apart
    from unnest($bonds::int[], $accountIds::text[], $threadIds::uuid[], $messageIds::text[])
      as n (bond, account_id, thread_id, message_id)
    join thread_message_ids m on m.account_id = n.account_id and m.thread_id = n.thread_id
      and m.message_id = any (array[n.message_id, deleted_message_id(n.message_id)])
    left join message_id_labels l on l.account_id = m.account_id and l.message_id = m.message_id
    order by n.bond, m.message_id`,
).narrow<{ bond: number; is_apart: boolean; label: string | null }>();

const LABEL_TIED = statement(
  'label-tied-message-ids',
  `insert into message_id_labels (account_id, message_id, label)
    select * from unnest($accountIds::text[], $messageIds::text[], $labels::uuid[])
    on conflict do nothing`,
);

const RENAMED = `unnest($threadIds::uuid[], $old::uuid[], $labels::uuid[]) as n (thread_id, old, label)`;

const RENAME_OF_IDS = statement(
  'rename-labels-of-message-ids',
  `update message_id_labels l set label = n.label
    from thread_message_ids m, ${RENAMED}
    where m.thread_id = n.thread_id and l.account_id = m.account_id and l.message_id = m.message_id
      and l.label = n.old`,
);

const RENAME_OF_EMAILS = statement(
  'rename-labels-of-emails',
  `update email_labels l set label = n.label
    from emails e, ${RENAMED}
    where e.thread_id = n.thread_id and l.email_id = e.id and l.label = n.old`,
);

/** Deletes the labels of a thread that is being deleted; call it before forgetMessageIds. */
export async function forgetLabels(trx: Executor, threadId: string): Promise<void> {
  await run(trx, FORGET_LABELS, { threadId });
}

const FORGET_LABELS = statement(
  'forget-message-id-labels',
  `delete from message_id_labels l using thread_message_ids m
  where m.thread_id = $threadId and l.account_id = m.account_id and l.message_id = m.message_id`,
);
