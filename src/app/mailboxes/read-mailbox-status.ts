/** The operators' view of the mailboxes, and the one thing that operators can do about a message: try it now. */
import { ServiceError } from '../../core/errors.ts';
import type { Address } from '../../core/address/address.ts';
import type { AccountFilter } from '../base/account-filter.ts';
import { PLACE_CURSOR, readPage, type PageRequest } from '../base/paging.ts';
import type { MailboxSource } from './mailbox-ports.ts';
import type {
  MailboxStatusStore,
  QuarantinedMessage,
  ReadingStatus,
  SentCopyCounts,
} from './mailbox-status-ports.ts';
import type { Account } from '../base/basics.ts';

export interface AccountStatus extends ReadingStatus {
  /** null: this process does not know the account. */
  readonly from: Address | null;
  /** This process is configured to read its mailboxes. */
  readonly hasMailbox: boolean;
  /** This process reads them. */
  readonly isOwnedHere: boolean;
  readonly sentCopies: SentCopiesStatus;
  /** Why it will stop working unless an operator acts; English, null when all is well. */
  readonly warning: string | null;
}

/** Sent emails in the Sent mailbox of their account. */
export interface SentCopiesStatus extends Omit<SentCopyCounts, 'accountId'> {
  /** This process is configured to store them. */
  readonly areKept: boolean;
  /** Why they are not stored, although the account asks for it; English, null when there is nothing to report. */
  readonly note: string | null;
}

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

export type Mailboxes = ReturnType<typeof createMailboxStatus>;

export function createMailboxStatus({
  status,
  source,
  sentCopies,
  accounts,
  instanceId,
  wake,
}: MailboxStatusPorts) {
  const reads = new Set(source.accountIds);
  return {
    /** Every account that is configured here or read by another process, with the state of its mailboxes. */
    async accounts(): Promise<readonly AccountStatus[]> {
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

    /** Messages of mailboxes that are set aside, the newest first. Throws `invalid_cursor`. */
    async quarantine(request: AccountFilter & PageRequest) {
      const { items, nextCursor } = await readPage(
        PLACE_CURSOR,
        request,
        (after, limit) => status.listQuarantine({ ...request, after, limit }),
        ({ quarantinedAt, id }) => ({ date: quarantinedAt, id }),
      );
      return { messages: items, nextCursor };
    },

    /** Has a message that is set aside tried now. Throws `quarantined_not_found`. */
    async retry(id: string): Promise<QuarantinedMessage> {
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
