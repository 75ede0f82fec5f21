/**
 * Places a send of which copies were recorded first as if it had come first: once they are merged into it, the links of all threads concerned
 * are weighed anew. A copy ties more than its send: it meets others at points of all its recipients, and it names what the send's caller
 * chose to ignore. Without this, mail that only the copy tied would stay in the thread, and the law (core/thread/link-graph.ts) would not
 * say so.
 */
import type { RecordedSend } from './outbound-ports.ts';
import { LinkConflict } from '../../platform/db/linking-transaction.ts';
import { run, statement, type Executor } from '../../platform/db/statement.ts';
import { readClusters, resolveThread } from '../emails/thread-rows.ts';
import { carryOut, weighThreads } from '../threads/arrange-threads.ts';
import { linkThread, readTies, type Linked, type LinkRequest } from '../threads/link-thread.ts';
import { forgetPointsOf } from '../threads/message-ids.ts';
import { absorbThreads } from '../threads/move-threads.ts';
import { absorbCopies, type Copy } from './absorb-copies.ts';

/** Copies of the send were recorded first: roll back, and place it among them in an exclusive transaction. */
export class CameBackFirst extends LinkConflict {}

type Request = Omit<LinkRequest, 'mayMerge' | 'exclusive' | 'answeredBy'>;

/**
 * For holders of `lockLinks` that found the copies under it. Throws LinkConflict.
 *
 * @param write writes the send, or its other Message-ID
 */
export async function placeAmongCopies(
  trx: Executor,
  request: Request,
  copies: readonly Copy[],
  write: (linked: Linked) => Promise<void>,
): Promise<RecordedSend> {
  const { accountId, email } = request;
  const requested = await resolveThread(trx, request.threadId);
  const places = [...new Set(copies.map((copy) => copy.thread_id))];
  const concerned = async () => [...new Set([requested, ...places, ...(await threadsOfTies(trx, request))])];
  const threads = await readClusters(trx, await concerned(), true);
  const locked = new Set([requested, ...threads.map(({ id }) => id)]);
  const ids = copies.map(({ id }) => id);
  await forgetPointsOf(trx, accountId, ids, [...locked]);
  const linked = await linkThread(trx, { ...request, threadId: requested, mayMerge: false, exclusive: true });
  await write(linked);
  const recorded = await absorbCopies(trx, email.id, copies);
  // Mail that came at this moment took some of the Message-IDs.
  if ((await concerned()).some((id) => !locked.has(id))) throw new LinkConflict();
  const left = new Set((await run(trx, WITH_EMAILS, { threadIds: places })).map(({ id }) => id));
  const emptied = places.filter((id) => id !== linked.threadId && !left.has(id));
  await absorbThreads(trx, linked.threadId, emptied);
  await carryOut(trx, accountId, await weighThreads(trx, accountId, [...locked], { lock: true }));
  return recorded;
}

async function threadsOfTies(trx: Executor, request: Request): Promise<readonly string[]> {
  const { nodes, owners, waiting } = await readTies(trx, request);
  return [...nodes.flatMap((name) => owners.get(name) ?? []), ...waiting.values()];
}

const WITH_EMAILS = statement(
  'threads-with-emails',
  `select t.id from email_threads t
  where t.id = any ($threadIds::uuid[]) and exists (select from emails e where e.thread_id = t.id)`,
);
