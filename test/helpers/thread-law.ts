/** The threads that an account should have: derived only from the law, from everything that is stored of its emails. */
import type pg from 'pg';
import { inTransaction } from '../../src/platform/db/transaction.ts';
import { namesOf, readThreadGraph } from '../../src/areas/threads/thread-graph.ts';
import { idOfPoint } from '../../src/core/thread/meeting-points.ts';
import { groupByLinks } from '../../src/core/thread/link-graph.ts';
import { numbered } from './groups.ts';

export interface ThreadsOfAccount {
  /** Emails and Message-IDs by thread, each as the number of its group. */
  readonly threads: readonly number[];
  /** `email Message-ID`, sorted. */
  readonly refused: readonly string[];
}

/** The stored threads, and the expected ones. */
export async function compareWithLaw(
  pool: pg.Pool,
  accountId: string,
): Promise<{
  readonly stored: ThreadsOfAccount;
  readonly expected: ThreadsOfAccount;
  readonly mixed: unknown[];
}> {
  const { rows } = await pool.query<{ id: string }>('select id from email_threads where account_id = $1', [
    accountId,
  ]);
  const graph = await inTransaction(pool, (trx) =>
    readThreadGraph(
      trx,
      accountId,
      rows.map(({ id }) => id),
    ),
  );
  const groups = groupByLinks(graph);
  const names = [...graph.messageIds.keys()].sort();
  const { written } = namesOf(graph);
  const refused = await pool.query<{ name: string }>(
    `select r.email_id || ' ' || r.message_id as name from refused_links r join emails e on e.id = r.email_id
    where e.account_id = $1`,
    [accountId],
  );
  const mixed = await pool.query(
    `select thread_id, array_agg(distinct party_id) from emails where account_id = $1 and party_id is not null
    group by thread_id having count(distinct party_id) > 1`,
    [accountId],
  );
  return {
    stored: {
      threads: numbered([
        ...graph.emails.map(({ threadId }) => threadId),
        ...names.map((id) => graph.owners.get(id)),
      ]),
      refused: refused.rows.map(({ name }) => name).sort(),
    },
    expected: {
      threads: numbered([...groups.emails, ...names.map((id) => groups.messageIds.get(id))]),
      refused: [
        ...new Set(
          groups.refused.map(({ emailId, messageId }) => `${emailId} ${idOfPoint(written(messageId))}`),
        ),
      ].sort(),
    },
    mixed: mixed.rows,
  };
}
