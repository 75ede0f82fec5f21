/** Stores of sent and of received mail on a database of their own, and values shared by their tests. */
import { randomUUID } from 'node:crypto';
import type pg from 'pg';
import { createEmailStore } from '../../src/areas/emails/email-store.ts';
import { createOutboundStore } from '../../src/areas/send/outbound-store.ts';
import { createThreadReader } from '../../src/areas/threads/read-thread.ts';
import { createInboundStore } from '../../src/areas/receive/record-inbound.ts';
import type { InboundStore } from '../../src/areas/receive/inbound-ports.ts';
import type { EmailStore } from '../../src/areas/emails/email-ports.ts';
import type { StoredAttachment } from '../../src/platform/files/stored-attachment.ts';
import type { EmailsJson } from '../../src/platform/db/emails-json.ts';
import type { OutboundStore } from '../../src/areas/send/outbound-ports.ts';
import type { ThreadsQuery } from '../../src/areas/threads/thread-list-ports.ts';
import { createTestDatabase, type TestDatabase } from './postgres.ts';
import { createTestPool } from './test-pool.ts';

/** Everything that the parts of the service do with stored emails, in one object. */
export interface MessageStore extends EmailStore, OutboundStore {
  /** Null if the thread does not exist. */
  readThread(threadId: string): Promise<EmailsJson | null>;
}

export function createMessageStore(pool: pg.Pool): MessageStore {
  const readThread = createThreadReader(pool);
  return {
    ...createEmailStore(pool),
    ...createOutboundStore(pool),
    async readThread(threadId) {
      const emails = (await readThread(threadId, null))?.emails ?? null;
      return emails?.kind === 'whole' ? { kind: 'whole', json: emails.json.toString() } : emails;
    },
  };
}

export interface MailStores {
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
  undelivered: null,
  status: null,
  assignee: null,
  isAssigned: null,
  label: null,
  hasAttachments: null,
  activeSince: null,
  activeUntil: null,
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
    contentId: null,
    inline: false,
  };
}
