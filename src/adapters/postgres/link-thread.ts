/**
 * Ties the Message-IDs of an email that answers something to its thread, and merges the threads that turn out to be
 * one conversation (the linking steps of RFC 5256 §3's REFERENCES algorithm).
 *
 * Order matters: thread rows are locked by ascending id before anything is written, so that two writers never wait for
 * each other in a circle; Message-IDs are inserted in sorted order for the same reason.
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
}

/** Returns the thread the email belongs to now: the requested one, or the older one it was merged into. */
export async function linkThread(trx: Transaction<Database>, request: LinkRequest): Promise<string> {
  const { accountId } = request;
  const alias = await trx
    .selectFrom('thread_aliases')
    .select('thread_id')
    .where('id', '=', request.threadId)
    .executeTakeFirst();
  const threadId = alias?.thread_id ?? request.threadId;

  await trx
    .insertInto('email_threads')
    .values({ id: threadId, account_id: accountId, customer_id: null, company_id: null })
    .onConflict((conflict) => conflict.column('id').doNothing())
    .execute();

  const messageIds = [...new Set(request.messageIds)].sort();
  if (messageIds.length === 0) return threadId;
  await trx
    .insertInto('thread_message_ids')
    .values(messageIds.map((message_id) => ({ account_id: accountId, message_id, thread_id: threadId })))
    .onConflict((conflict) => conflict.columns(['account_id', 'message_id']).doNothing())
    .execute();
  if (!request.mayMerge) return threadId;

  const owners = await trx
    .selectFrom('thread_message_ids')
    .select('thread_id')
    .distinct()
    .where('account_id', '=', accountId)
    .where('message_id', 'in', messageIds)
    .execute();
  const others = owners.map((row) => row.thread_id).filter((id) => id !== threadId);
  return others.length === 0 ? threadId : mergeThreads(trx, [threadId, ...others]);
}

/**
 * Makes one thread of several of the same account: the oldest survives, the others become aliases of it.
 * Returns the survivor.
 */
async function mergeThreads(trx: Transaction<Database>, ids: readonly string[]): Promise<string> {
  const threads = await trx
    .selectFrom('email_threads')
    .selectAll()
    .where('id', 'in', [...ids])
    .orderBy('id')
    .forUpdate()
    .execute();
  const [survivor, ...merged] = threads.sort(
    (a, b) => a.created_at.getTime() - b.created_at.getTime() || (a.id < b.id ? -1 : 1),
  );
  if (survivor === undefined) throw new Error('the threads to merge are gone');
  const mergedIds = merged.map((thread) => thread.id);
  if (mergedIds.length === 0) return survivor.id;

  for (const table of ['thread_message_ids', 'emails', 'thread_aliases'] as const) {
    await trx
      .updateTable(table)
      .set({ thread_id: survivor.id })
      .where('thread_id', 'in', mergedIds)
      .execute();
  }
  await trx.deleteFrom('email_threads').where('id', 'in', mergedIds).execute();
  await trx
    .insertInto('thread_aliases')
    .values(mergedIds.map((id) => ({ id, thread_id: survivor.id })))
    .execute();
  for (const thread of merged) {
    await adoptCustomer(trx, survivor.id, thread.customer_id, thread.company_id);
  }
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
