/** Everything that the service's parts do with stored emails, in one, for tests that record and read them. */
import type { Pool } from 'pg';
import { createEmailStore } from '../../src/adapters/postgres/emails/email-store.ts';
import { createOutboundStore } from '../../src/adapters/postgres/send/outbound-store.ts';
import { createThreadReader } from '../../src/adapters/postgres/threads/read-thread.ts';
import type { EmailStore } from '../../src/app/emails/email-ports.ts';
import type { OutboundStore } from '../../src/app/send/outbound-ports.ts';
import type { EmailsJson } from '../../src/app/emails/email-ports.ts';

export interface MessageStore extends EmailStore, OutboundStore {
  /** Null when the thread does not exist. */
  readThread(threadId: string): Promise<EmailsJson | null>;
}

export function createMessageStore(pool: Pool): MessageStore {
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
