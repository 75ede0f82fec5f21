/** Transactions that link threads: begun again, as exclusive ones if need be, until they succeed. */
import type { Kysely, Transaction } from 'kysely';
import type { Pool, PoolClient } from 'pg';
import type { Database } from './database.ts';
import { guard, isRetryable } from './pool.ts';
import { BeginAgain, inTransaction, MAX_TRIES } from './transaction.ts';

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

/** `work` gets `exclusive` for linkThread. Throws `database_unavailable`, and what `work` throws. */
export async function inLinkingTransaction<T>(
  pool: Pool,
  work: (client: PoolClient, exclusive: boolean) => Promise<T>,
): Promise<T>;
export async function inLinkingTransaction<T>(
  db: Kysely<Database>,
  work: (trx: Transaction<Database>, exclusive: boolean) => Promise<T>,
): Promise<T>;
export async function inLinkingTransaction<T>(
  db: Pool | Kysely<Database>,
  work: (trx: PoolClient & Transaction<Database>, exclusive: boolean) => Promise<T>,
): Promise<T> {
  let exclusive = false;
  const linked = async (trx: PoolClient | Transaction<Database>) => {
    try {
      return await work(trx as PoolClient & Transaction<Database>, exclusive);
    } catch (error) {
      exclusive ||= error instanceof LinkConflict;
      throw error;
    }
  };
  if (!('executeQuery' in db)) return await inTransaction(db, linked);
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await guard(db.transaction().execute(linked));
    } catch (error) {
      if (attempt >= MAX_TRIES || !(error instanceof BeginAgain || isRetryable(error))) throw error;
    }
  }
}
