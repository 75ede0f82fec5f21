/** The operators' view of the mailboxes, and the one thing that operators can do about a message: try it now. */
import { ServiceError } from '../../core/errors.ts';
import type { AccountStatus, MailboxUseCases, SentCopiesStatus } from './use-cases.ts';
import { PLACE_CURSOR, readPage } from '../base/paging.ts';
import type { MailboxSource } from './mailbox-ports.ts';
import type { MailboxStatusStore, ReadingStatus } from './mailbox-status-ports.ts';
import type { Account } from '../base/basics.ts';

export interface MailboxStatusPorts {
  readonly status: MailboxStatusStore;
  readonly source: Pick<MailboxSource, 'accountIds' | 'warningOf'>;
  /** For each account, whether its sent mail is put into its Sent mailbox, according to this configuration. */
  readonly sentCopies: ReadonlyMap<string, Pick<SentCopiesStatus, 'areKept' | 'note'>>;
  readonly accounts: ReadonlyMap<string, Account>;
  /** Identifies this process among those that share the database. */
  readonly instanceId: string;
  /** Called when something of the account may be tried now. */
  readonly wake: (accountId: string) => void;
}

export function createMailboxStatus({
  status,
  source,
  sentCopies,
  accounts,
  instanceId,
  wake,
}: MailboxStatusPorts): Pick<MailboxUseCases, 'listAccounts' | 'listQuarantine' | 'retryQuarantined'> {
  const reads = new Set(source.accountIds);
  return {
    async listAccounts() {
      const [found, counted] = await Promise.all([status.readStatus(), status.countSentCopies()]);
      const readings = new Map(found.map((reading) => [reading.accountId, reading]));
      const copies = new Map(counted.map((counts) => [counts.accountId, counts]));
      // Accounts of other processes, or of an earlier configuration, come last.
      const ids = new Set([...accounts.keys(), ...readings.keys(), ...copies.keys()]);
      return [...ids].map((id): AccountStatus => ({
        ...(readings.get(id) ?? neverRead(id)),
        from: accounts.get(id)?.from ?? null,
        hasMailbox: reads.has(id),
        isOwnedHere: readings.get(id)?.owner === instanceId,
        sentCopies: {
          areKept: sentCopies.get(id)?.areKept ?? false,
          note: sentCopies.get(id)?.note ?? null,
          pending: copies.get(id)?.pending ?? 0,
          failed: copies.get(id)?.failed ?? 0,
          lastError: copies.get(id)?.lastError ?? null,
        },
        warning: reads.has(id) ? source.warningOf(id) : null,
      }));
    },

    async listQuarantine(request) {
      const { items, nextCursor } = await readPage(
        PLACE_CURSOR,
        request,
        (after, limit) => status.listQuarantine({ ...request, after, limit }),
        ({ quarantinedAt, id }) => ({ date: quarantinedAt, id }),
      );
      return { messages: items, nextCursor };
    },

    async retryQuarantined(id) {
      const message = await status.retryQuarantined(id);
      if (message === null) throw new ServiceError('quarantined_not_found');
      wake(message.accountId);
      return message;
    },
  };
}

function neverRead(accountId: string): ReadingStatus {
  return {
    accountId,
    owner: null,
    lastAttemptAt: null,
    nextAttemptAt: null,
    lastError: null,
    mailboxes: [],
  };
}
