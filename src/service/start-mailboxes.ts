/** Starts reading the mailboxes of the accounts that have one. */
import { createMailboxRecords } from '../areas/mailboxes/mailbox-records.ts';
import { sendsAs } from '../core/accounts/sender-addresses.ts';
import type { Config } from '../config/config.ts';
import type { AccountRegistry } from './account-registry.ts';
import type { MailboxAccount, MailboxReader, MailboxReaderPorts } from '../areas/mailboxes/mailbox-reader.ts';
import type { WorkWatch } from '../areas/work/work-watch.ts';

export interface MailboxParts extends Omit<MailboxReaderPorts, 'records' | 'maxBytes' | 'random'> {
  readonly pool: Parameters<typeof createMailboxRecords>[0];
  /** Identifies this DATA_DIR; see connectors/data-dir/instance-id.ts. */
  readonly instanceId: string;
  readonly watch: Pick<WorkWatch, 'on'>;
  readonly registry: AccountRegistry;
}

/** The reader follows the accounts of `registry`. */
export async function startMailboxes(
  config: Config,
  parts: MailboxParts,
): Promise<Omit<MailboxReader, 'follow'>> {
  const { pool, instanceId, watch, registry, ...ports } = parts;
  let reader: MailboxReader | null = null;
  let starting: Promise<void> | null = null;
  let isStopped = false;
  const accounts = (): readonly MailboxAccount[] =>
    registry.working.flatMap(({ id, from, addresses, imap, oauth2, capture }) =>
      imap === null
        ? []
        : [
            {
              id,
              since: imap.since,
              isOwn: (address) => sendsAs({ from, addresses }, address),
              capture,
              settings: JSON.stringify([imap, oauth2, capture, from, addresses]),
            },
          ],
    );

  async function start(): Promise<void> {
    // Loaded only if there is a mailbox to read: other services save its memory.
    const { startMailboxReader } = await import('../areas/mailboxes/mailbox-reader.ts');
    if (isStopped) return;
    reader = startMailboxReader(
      {
        ...ports,
        records: createMailboxRecords(pool),
        maxBytes: config.maxInboundBytes,
        random: Math.random,
      },
      { owner: instanceId, accounts: accounts(), ...config.mailboxes },
    );
    watch.on('mailboxes', reader.look);
    parts.logger.info({ accounts: accounts().length }, 'reading mailboxes');
  }

  if (accounts().length > 0) await (starting = start());
  registry.follow(() => {
    if (reader !== null) reader.follow(accounts());
    else if (accounts().length > 0)
      starting ??= start().catch((err: unknown) => {
        starting = null;
        parts.logger.error({ err }, 'mailboxes can not be read');
      });
  });
  return {
    wake: (accountId) => reader?.wake(accountId),
    look: () => reader?.look(),
    count: () => reader?.count() ?? 0,
    async stop() {
      isStopped = true;
      await starting;
      await reader?.stop();
    },
  };
}
