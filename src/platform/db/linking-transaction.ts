/** Transactions that link threads. They begin again until they succeed, as exclusive ones if need be. */
import type { Pool, PoolClient } from 'pg';
import { BeginAgain, inTransaction } from './transaction.ts';

/** The Message-IDs belong to other threads than expected: roll back, and try again with `exclusive`. */
export class LinkConflict extends BeginAgain {
  constructor() {
    super('the Message-IDs are in several threads');
    this.name = 'LinkConflict';
  }
}

/** Another transaction recorded the same email after `work` looked for it: roll back, and look again. */
export class RecordedMeanwhile extends BeginAgain {
  constructor() {
    super('the email was recorded meanwhile');
    this.name = 'RecordedMeanwhile';
  }
}

/** `work` gets `exclusive` for linkThread. Throws `database_unavailable`, and the errors of `work`. */
export async function inLinkingTransaction<T>(
  pool: Pool,
  work: (client: PoolClient, exclusive: boolean) => Promise<T>,
): Promise<T> {
  let exclusive = false;
  return await inTransaction(pool, async (client) => {
    try {
      return await work(client, exclusive);
    } catch (error) {
      exclusive ||= error instanceof LinkConflict;
      throw error;
    }
  });
}
