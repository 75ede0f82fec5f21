/** Starts the reading of mailboxes, of the accounts that have one. */
import { createMailboxRecords } from './adapters/postgres/mailbox-records.ts';
import type { MailboxSource } from './app/mailbox-ports.ts';
import type { MailboxRecords } from './app/mailbox-record-ports.ts';
import type { Config } from './config.ts';
import type { Loop } from './worker/loop.ts';
import { startMailboxReader, type MailboxReaderPorts } from './worker/mailbox-reader.ts';

export interface MailboxParts extends Omit<MailboxReaderPorts, 'source' | 'records' | 'maxBytes' | 'random'> {
  readonly source: MailboxSource;
  readonly pool: Parameters<typeof createMailboxRecords>[0];
  /** Who this DATA_DIR is; see adapters/data-dir/instance-id.ts. */
  readonly instanceId: string;
}

export interface Mailboxes extends Loop {
  readonly records: MailboxRecords;
}

export function startMailboxes(config: Config, parts: MailboxParts): Mailboxes {
  const { pool, instanceId, ...ports } = parts;
  const records = createMailboxRecords(pool);
  const accounts = config.accounts.flatMap(({ id, imap }) =>
    imap === null ? [] : [{ id, since: imap.since }],
  );
  if (accounts.length === 0) return { records, stop: async () => undefined };
  const reader = startMailboxReader(
    { ...ports, records, maxBytes: config.maxInboundBytes, random: Math.random },
    { owner: instanceId, accounts, ...config.mailboxes },
  );
  parts.logger.info({ accounts: accounts.length }, 'reading mailboxes');
  return { records, stop: () => reader.stop() };
}
