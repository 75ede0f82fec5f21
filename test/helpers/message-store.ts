/** Everything that the service's parts do with stored emails, in one, for tests that record and read them. */
import type { Pool } from 'pg';
import { createEmailStore } from '../../src/adapters/postgres/emails/email-store.ts';
import { createOutboundStore } from '../../src/adapters/postgres/send/outbound-store.ts';
import { createThreadReader } from '../../src/adapters/postgres/threads/read-thread.ts';
import type { EmailStore } from '../../src/app/emails/email-ports.ts';
import type { OutboundStore } from '../../src/app/send/outbound-ports.ts';
import type { ThreadReader } from '../../src/app/threads/thread-list-ports.ts';

export interface MessageStore extends EmailStore, OutboundStore, ThreadReader {}

export function createMessageStore(pool: Pool): MessageStore {
  return {
    ...createEmailStore(pool),
    ...createOutboundStore(pool),
    readThread: createThreadReader(pool),
  };
}
