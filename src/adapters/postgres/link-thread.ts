/**
 * Ties the Message-IDs of an email that answers something to its thread, and merges the threads that turn out to be
 * one conversation (the linking steps of RFC 5256 §3's REFERENCES algorithm).
 *
 * Nearly every email joins one thread, so it is tried without a lock first. When its Message-IDs turn out to be in
 * other threads too, also because another email claimed them at this moment, the transaction is begun anew as an
 * exclusive one: those of an account come one after the other, and only they merge. An exclusive one locks threads
 * before it writes Message-IDs, so that it never waits for somebody who waits for it.
 */
import { sql, type Transaction } from 'kysely';
import type { Database } from './database.ts';

export interface LinkRequest {
  readonly accountId: string;
  /** The thread the email is to be in; made when it does not exist. */
  readonly threadId: string;
  /** Message-IDs the email is or names. */
  readonly messageIds: readonly string[];
  /** False when the thread was chosen by hand: then Message-IDs of other threads stay where they are. */
  readonly mayMerge: boolean;
  /** True on the tries after a `LinkConflict`. */
  readonly exclusive: boolean;
}

/** The Message-IDs belong to other threads than expected: roll back, and try again with `exclusive`. */
export class LinkConflict extends Error {
  constructor() {
    super('the Message-IDs are in several threads');
    this.name = 'LinkConflict';
  }
}

/**
 * Returns the thread the email belongs to now: the requested one, or the older one it was merged into.
 * Throws LinkConflict.
 */
export async function linkThread(trx: Transaction<Database>, request: LinkRequest): Promise<string> {
  const messageIds = [...new Set(request.messageIds)].sort();
  if (request.exclusive) {
    await sql`select pg_advisory_xact_lock(${MERGE_LOCK}, hashtext(${request.accountId}))`.execute(trx);
  }
  const alias = await trx
    .selectFrom('thread_aliases')
    .select('thread_id')
    .where('id', '=', request.threadId)
    .executeTakeFirst();
  const requested = alias?.thread_id ?? request.threadId;
  const threadId = request.exclusive
    ? await mergeThreads(trx, requested, await ownersOf(trx, request.accountId, messageIds))
    : requested;

  await trx
    .insertInto('email_threads')
    .values({ id: threadId, account_id: request.accountId, customer_id: null, company_id: null })
    .onConflict((conflict) => conflict.column('id').doNothing())
    .execute();
  // Sorted, so that two emails with the same Message-IDs never wait for each other in a circle.
  await trx
    .insertInto('thread_message_ids')
    .values(
      messageIds.map((message_id) => ({ account_id: request.accountId, message_id, thread_id: threadId })),
    )
    .onConflict((conflict) => conflict.columns(['account_id', 'message_id']).doNothing())
    .execute();
  if (request.mayMerge) {
    const owners = await ownersOf(trx, request.accountId, messageIds);
    if (owners.some((owner) => owner !== threadId)) throw new LinkConflict();
  }
  return threadId;
}

/** First key of the advisory locks of exclusive transactions; the second is the account. */
const MERGE_LOCK = 0x6d657267;

/** The threads that the Message-IDs belong to. */
async function ownersOf(
  trx: Transaction<Database>,
  accountId: string,
  messageIds: readonly string[],
): Promise<readonly string[]> {
  const rows = await trx
    .selectFrom('thread_message_ids')
    .select('thread_id')
    .distinct()
    .where('account_id', '=', accountId)
    .where('message_id', 'in', [...messageIds])
    .execute();
  return rows.map((row) => row.thread_id);
}

/**
 * Makes one thread of several of the same account: the oldest survives, the others become aliases of it. The requested
 * one need not exist yet: its identifier was given out, so it becomes an alias too. Returns the survivor.
 */
async function mergeThreads(
  trx: Transaction<Database>,
  requested: string,
  owners: readonly string[],
): Promise<string> {
  const threads = await trx
    .selectFrom('email_threads')
    .selectAll()
    .where('id', 'in', [requested, ...owners])
    .orderBy('id')
    .forUpdate()
    .execute();
  const [survivor, ...merged] = threads.sort(
    (a, b) => a.created_at.getTime() - b.created_at.getTime() || (a.id < b.id ? -1 : 1),
  );
  if (survivor === undefined) return requested;
  const mergedIds = merged.map((thread) => thread.id);
  if (mergedIds.length > 0) {
    for (const table of ['thread_message_ids', 'emails', 'thread_aliases'] as const) {
      await trx
        .updateTable(table)
        .set({ thread_id: survivor.id })
        .where('thread_id', 'in', mergedIds)
        .execute();
    }
    await trx.deleteFrom('email_threads').where('id', 'in', mergedIds).execute();
  }
  const aliases = [...new Set([requested, ...mergedIds])].filter((id) => id !== survivor.id);
  if (aliases.length > 0) {
    await trx
      .insertInto('thread_aliases')
      .values(aliases.map((id) => ({ id, thread_id: survivor.id })))
      .execute();
  }
  for (const thread of merged) await adoptCustomer(trx, survivor.id, thread.customer_id, thread.company_id);
  return survivor.id;
}

/** A thread without a customer or company takes the given one, and so do its emails that have none. */
export async function adoptCustomer(
  trx: Transaction<Database>,
  threadId: string,
  customerId: string | null,
  companyId: string | null,
): Promise<void> {
  if (customerId === null && companyId === null) return;
  const changed = await trx
    .updateTable('email_threads')
    .set({
      customer_id: sql`coalesce(customer_id, ${customerId})`,
      company_id: sql`coalesce(company_id, ${companyId})`,
    })
    .where('id', '=', threadId)
    .returning(['customer_id', 'company_id'])
    .executeTakeFirst();
  if (changed === undefined) return;
  await trx
    .updateTable('emails')
    .set({
      customer_id: sql`coalesce(customer_id, ${changed.customer_id})`,
      company_id: sql`coalesce(company_id, ${changed.company_id})`,
    })
    .where('thread_id', '=', threadId)
    .where((where) => where.or([where('customer_id', 'is', null), where('company_id', 'is', null)]))
    .execute();
}
