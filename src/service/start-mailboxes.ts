/** Starts reading the mailboxes of the accounts that have one. */
import { createMailboxRecords } from '../adapters/postgres/mailboxes/mailbox-records.ts';
import type { Config } from '../config/config.ts';
import type { MailboxReader, MailboxReaderPorts } from '../worker/mailbox-reader.ts';
import type { WorkWatch } from '../worker/work-watch.ts';

export interface MailboxParts extends Omit<MailboxReaderPorts, 'records' | 'maxBytes' | 'random'> {
  readonly pool: Parameters<typeof createMailboxRecords>[0];
  /** Identifies this DATA_DIR; see adapters/data-dir/instance-id.ts. */
  readonly instanceId: string;
  readonly watch: Pick<WorkWatch, 'on'>;
}

const NO_MAILBOXES: MailboxReader = {
  wake: () => undefined,
  look: () => undefined,
  count: () => 0,
  stop: async () => undefined,
};

export async function startMailboxes(config: Config, parts: MailboxParts): Promise<MailboxReader> {
  const { pool, instanceId, watch, ...ports } = parts;
  const accounts = config.accounts.flatMap(({ id, imap }) =>
    imap === null ? [] : [{ id, since: imap.since }],
  );
  if (accounts.length === 0) return NO_MAILBOXES;
  // Loaded only if there is a mailbox to read: other services save its memory.
  const { startMailboxReader } = await import('../worker/mailbox-reader.ts');
  const reader = startMailboxReader(
    { ...ports, records: createMailboxRecords(pool), maxBytes: config.maxInboundBytes, random: Math.random },
    { owner: instanceId, accounts, ...config.mailboxes },
  );
  watch.on('mailboxes', reader.look);
  parts.logger.info({ accounts: accounts.length }, 'reading mailboxes');
  return reader;
}
