/** Transactions that link threads: restarted, as exclusive ones if need be, until they succeed. */
import type { Kysely, Transaction } from 'kysely';
import type { Database } from './database.ts';
import { guard, isRetryable } from './pool.ts';

/** Tries of a transaction that conflicts with another one. */
const MAX_TRIES = 10;

/** The Message-IDs belong to other threads than expected: roll back, and try again with `exclusive`. */
export class LinkConflict extends Error {
  constructor() {
    super('the Message-IDs are in several threads');
    this.name = 'LinkConflict';
  }
}

/** Another transaction recorded the same email after `work` looked for it: roll back, and look again. */
export class RecordedMeanwhile extends Error {
  constructor() {
    super('the email was recorded meanwhile');
    this.name = 'RecordedMeanwhile';
  }
}

/** `work` gets `exclusive` for linkThread. Throws `database_unavailable`, and what `work` throws. */
export async function inLinkingTransaction<T>(
  db: Kysely<Database>,
  work: (trx: Transaction<Database>, exclusive: boolean) => Promise<T>,
): Promise<T> {
  let exclusive = false;
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await guard(db.transaction().execute((trx) => work(trx, exclusive)));
    } catch (error) {
      exclusive ||= error instanceof LinkConflict;
      const passing =
        error instanceof LinkConflict || error instanceof RecordedMeanwhile || isRetryable(error);
      if (attempt >= MAX_TRIES || !passing) throw error;
    }
  }
}
