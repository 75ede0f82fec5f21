/** The operators' view of the mailboxes, and the one thing that operators can do about a message: try it now. */
import { ServiceError } from '../../core/errors.ts';
import type { Address } from '../../core/address/address.ts';
import type { AccountFilter } from '../../platform/base/account-filter.ts';
import type { OpenSettings } from '../../core/accounts/open-settings.ts';
import type { AccountFacts } from '../accounts/account-ports.ts';
import { PLACE_CURSOR, readPage, type PageRequest } from '../../platform/base/paging.ts';
import type { MailboxSource } from './mailbox-ports.ts';
import type {
  MailboxStatusStore,
  QuarantinedMessage,
  ReadingStatus,
  SentCopyCounts,
} from './mailbox-status-ports.ts';
import type { Account } from '../../platform/base/basics.ts';

export const ACCOUNT_STATES = ['active', 'paused', 'unavailable', 'removed'] as const;

export interface AccountStatus extends ReadingStatus {
  /** `unavailable`: it can't be used here; `removed`: it is not known here, or was deleted. */
  readonly state: (typeof ACCOUNT_STATES)[number];
  /** It is of the configuration of this process. */
  readonly isDeclared: boolean;
  /** Counts the changes; 1 when it is not stored. */
  readonly version: number;
  readonly pausedAt: Date | null;
  /** null: it is not known here. */
  readonly settings: OpenSettings | null;
  /** null: this process does not know the account. */
  readonly from: Address | null;
  /** This process is configured to read its mailboxes. */
  readonly hasMailbox: boolean;
  /** This process reads them. */
  readonly isOwnedHere: boolean;
  readonly sentCopies: SentCopiesStatus;
  /** The owner of the mailboxes has to consent to OAuth2, for the first time or again. */
  readonly reconnect: boolean;
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
  readonly source: Pick<MailboxSource, 'warningOf'>;
  readonly known: ReadonlyMap<string, AccountFacts>;
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
  known,
  accounts,
  instanceId,
  wake,
}: MailboxStatusPorts) {
  /** Every account that is known here or read by another process, with the state of its mailboxes. @param only null: all */
  async function read(only: string | null): Promise<readonly AccountStatus[]> {
    const [found, counted] = await Promise.all([status.readStatus(only), status.countSentCopies(only)]);
    const readings = new Map(found.map((reading) => [reading.accountId, reading]));
    const copies = new Map(counted.map((counts) => [counts.accountId, counts]));
    // Accounts of other processes, of an earlier configuration, and deleted ones come last.
    const knownIds = only === null ? [...known.keys()] : known.has(only) ? [only] : [];
    const ids = new Set([...knownIds, ...readings.keys(), ...copies.keys()]);
    return [...ids].map((id): AccountStatus => {
      const facts = known.get(id);
      const state = stateOf(facts);
      const hasMailbox = state === 'active' && facts?.open.imap_server !== null;
      return {
        ...(readings.get(id) ?? neverRead(id)),
        state,
        isDeclared: facts?.isDeclared ?? false,
        version: facts?.version ?? 1,
        pausedAt: facts?.pausedAt ?? null,
        settings: facts?.open ?? null,
        from: accounts.get(id)?.from ?? null,
        hasMailbox,
        isOwnedHere: readings.get(id)?.owner === instanceId,
        sentCopies: {
          areKept: facts?.sentCopies.areKept ?? false,
          note: facts?.sentCopies.note ?? null,
          pending: copies.get(id)?.pending ?? 0,
          failed: copies.get(id)?.failed ?? 0,
          lastError: copies.get(id)?.lastError ?? null,
        },
        reconnect: needsConsent(facts, readings.get(id)),
        warning: facts?.problem ?? (hasMailbox ? source.warningOf(id) : null),
      };
    });
  }

  async function readOne(id: string): Promise<AccountStatus> {
    const [account] = await read(id);
    // Of a deleted account, only how far its mailboxes were read is left.
    if (account === undefined || (account.state === 'removed' && account.owner === null))
      throw new ServiceError('account_not_found');
    return account;
  }

  return {
    accounts: () => read(null),

    /** Throws `account_not_found`. */
    account: readOne,

    /** Has everything in the mailboxes of an account compared again. Throws `account_not_found`. */
    async resync(id: string): Promise<AccountStatus> {
      await readOne(id);
      await status.resync(id);
      wake(id);
      return readOne(id);
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

    leftOut: (query: Parameters<MailboxStatusStore['findLeftOut']>[0]) => status.findLeftOut(query),

    /** Has a message that is set aside tried now. Throws `quarantined_not_found`. */
    async retry(id: string): Promise<QuarantinedMessage> {
      const message = await status.retryQuarantined(id);
      if (message === null) throw new ServiceError('quarantined_not_found');
      wake(message.accountId);
      return message;
    },
  };
}

/** There was no consent yet, or the last attempt failed for the tokens of one that was withdrawn. */
function needsConsent(facts: AccountFacts | undefined, reading: ReadingStatus | undefined): boolean {
  if (facts === undefined) return false;
  const isRefused = reading?.lastError?.kind === 'credentials' && reading.nextAttemptAt !== null;
  return facts.awaitsConsent || (facts.readsByConsent && isRefused);
}

function stateOf(facts: AccountFacts | undefined): AccountStatus['state'] {
  if (facts === undefined) return 'removed';
  if (facts.problem !== null) return 'unavailable';
  return facts.pausedAt === null ? 'active' : 'paused';
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
