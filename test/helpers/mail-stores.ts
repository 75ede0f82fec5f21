/** Stores of sent and of received mail on a database of their own, and values that their tests share. */
import { randomUUID } from 'node:crypto';
import type pg from 'pg';
import { createMessageStore, type MessageStore } from './message-store.ts';
import { createInboundStore } from '../../src/adapters/postgres/receive/record-inbound.ts';
import type { InboundStore } from '../../src/app/receive/inbound-ports.ts';
import type { StoredAttachment } from '../../src/app/emails/email-ports.ts';
import type { ThreadsQuery } from '../../src/app/threads/thread-list-ports.ts';
import { createTestDatabase, type TestDatabase } from './postgres.ts';
import { createTestPool } from './test-pool.ts';

interface MailStores {
  readonly database: TestDatabase;
  readonly pool: pg.Pool;
  readonly store: MessageStore;
  readonly inbound: InboundStore;
  /** Closes the pool and drops the database. */
  end(): Promise<void>;
}

export async function openMailStores(maxConnections?: number): Promise<MailStores> {
  const database = await createTestDatabase();
  const pool = createTestPool(database, maxConnections);
  return {
    database,
    pool,
    store: createMessageStore(pool),
    inbound: createInboundStore(pool),
    async end() {
      await pool.end();
      await database.drop();
    },
  };
}

/** The first page of all threads. */
export const ALL_THREADS: ThreadsQuery = {
  search: null,
  customerId: null,
  companyId: null,
  accountId: null,
  direction: null,
  unread: null,
  unanswered: null,
  limit: 50,
  after: null,
};

export function storedAttachment(filename = 'a.pdf'): StoredAttachment {
  const id = randomUUID();
  return {
    id,
    filename,
    contentType: 'application/octet-stream',
    sizeBytes: 1,
    storagePath: `default/${id}/${id}`,
    sha256: '0'.repeat(64),
  };
}
