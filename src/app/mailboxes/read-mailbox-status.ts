/** What operators see of the mailboxes that are read, and the one thing they can do about a message: try it now. */
import { ServiceError } from '../../core/errors.ts';
import type { AccountStatus, MailboxUseCases } from './use-cases.ts';
import { PLACE_CURSOR, readPage } from '../base/paging.ts';
import type { MailboxSource } from './mailbox-ports.ts';
import type { MailboxStatusStore, ReadingStatus } from './mailbox-status-ports.ts';
import type { Account } from '../base/basics.ts';

export interface MailboxStatusPorts {
  readonly status: MailboxStatusStore;
  readonly source: Pick<MailboxSource, 'accountIds' | 'warningOf'>;
  readonly accounts: ReadonlyMap<string, Account>;
  /** Identifies this process among those that share the database. */
  readonly instanceId: string;
  /** Something of the account may be tried now. */
  readonly wake: (accountId: string) => void;
}

export function createMailboxStatus({
  status,
  source,
  accounts,
  instanceId,
  wake,
}: MailboxStatusPorts): Pick<MailboxUseCases, 'listAccounts' | 'listQuarantine' | 'retryQuarantined'> {
  const reads = new Set(source.accountIds);
  return {
    async listAccounts() {
      const readings = new Map((await status.readStatus()).map((reading) => [reading.accountId, reading]));
      // Those of other processes, or of an earlier configuration, come last.
      const ids = new Set([...accounts.keys(), ...readings.keys()]);
      return [...ids].map((id): AccountStatus => ({
        ...(readings.get(id) ?? neverRead(id)),
        from: accounts.get(id)?.from ?? null,
        hasMailbox: reads.has(id),
        isOwnedHere: readings.get(id)?.owner === instanceId,
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
