/**
 * The loop that reads mailboxes: it claims this process' share of the accounts, keeps a connection for each, reconnects
 * after failures at growing intervals, and at once drops accounts that another process has taken over.
 *
 * An account in the share of another process is handed over: its reading ends after the messages in hand, and a round
 * then gives it back. The watch wakes the other process when an account is free. Only rounds change the holder of an
 * account, and there is one at a time.
 */
import { MailboxError, type MailboxSource } from './mailbox-ports.ts';
import { type Leases, LeaseLost } from './mailbox-record-ports.ts';
import { Limit } from '../../platform/base/limit.ts';
import { RENEWALS_PER_LEASE } from '../../platform/base/leases.ts';
import { systemTimers, type Timers } from '../../platform/base/timers.ts';
import { readAccount, type ReadAccountPorts } from './read-account.ts';
import { reasonOf } from './take-messages.ts';
import { ServiceError } from '../../core/errors.ts';
import type { CaptureRules } from '../../core/mailbox/capture.ts';
import { accountRetryDelay, type AccountFailure } from '../../core/mailbox/retry.ts';
import { spreadAccounts } from '../../core/mailbox/spread.ts';
import { startLoop, type Loop } from '../../platform/base/loop.ts';

export interface MailboxReaderPorts extends Omit<ReadAccountPorts, 'fetchLimit' | 'recordLimits'> {
  readonly source: Pick<MailboxSource, 'connect'>;
  /** False while the storage of files can't be used. */
  readonly mayStoreFiles: () => boolean;
  /** The failure of an account was noted. */
  readonly onFailing?: () => void;
  /** From 0 (inclusive) to 1 (exclusive). */
  readonly random: () => number;
}

export interface MailboxReaderOptions {
  /** Identifies this process among those that share the database; a UUID that survives restarts. */
  readonly owner: string;
  readonly accounts: readonly MailboxAccount[];
  /** How long a silent process keeps its accounts, in ms. */
  readonly leaseMs: number;
  /** How long a mailbox may go without being checked, in ms. */
  readonly pollMs: number;
  /** For leases and waits; default: those of the system. */
  readonly timers?: Timers;
}

export interface MailboxReader extends Loop {
  /** Something of the account may be tried now. */
  wake(accountId: string): void;
  /** Accounts may be free. */
  look(): void;
  /** Accounts whose mailboxes this process reads. */
  count(): number;
  /** Replaces the accounts. One that changed, or is gone, is read no further than the messages in hand. */
  follow(accounts: readonly MailboxAccount[]): void;
}

export interface MailboxAccount {
  readonly id: string;
  /** See `SyncOptions`. */
  readonly since: Date | null;
  /** True for an address of its own, in lower case. */
  readonly isOwn: (address: string) => boolean;
  /** null: everything in INBOX and the Sent mailbox is recorded. */
  readonly capture: CaptureRules | null;
  /** What it is read with: another text when it changed. Default: it never does. */
  readonly settings?: string;
}

/** How often to check for an expired lease. */
const CHECKS_PER_LEASE = 10;
/** Accounts that end within this time are given back together, in ms. */
const GATHER_MS = 100;
/**
 * Accounts on their way to other processes at the same moment: this process keeps reading the next ones until those are
 * read elsewhere.
 */
const HAND_OVERS = 32;
/** Accounts that fetch messages at the same moment; it bounds memory. */
const FETCHES = 8;
/** How long a fetch may get nothing, as when a server hangs, before others need not wait for it, in ms. */
const FETCH_STALL_MS = 15_000;
/** Messages being recorded at the same moment, which are written together; bounds the memory of all accounts. */
const RECORDINGS = 256;
/** Sent copies are compared with sends, one by one: each takes a database connection, which sends need too. */
const SENT_RECORDINGS = 4;
/** Connections being made at the same moment. Accounts that failed have a separate queue. */
const CONNECTS = 32;
const RECONNECTS = 16;
/** After a connection that lasted this long, in ms, the next failure counts as the first one. */
const GOOD_SESSION_MS = 60_000;
/** A connection that broke at a certain message counts as this many failures at most. */
const MESSAGE_FAILURES = 2;
/** A failure that stays the same is logged again only after this many. */
const FAILURES_PER_LOG_LINE = 20;

interface Reading {
  /** Cuts the connection. */
  readonly stop: AbortController;
  /** Ends the reading after the messages in hand; aborted with `stop` as well. */
  readonly leave: AbortController;
  readonly done: Promise<void>;
  /** By `Timers.now`. */
  leaseUntil: number;
  /** Ends the wait under way. */
  wait: AbortController | null;
}

export function startMailboxReader(ports: MailboxReaderPorts, options: MailboxReaderOptions): MailboxReader {
  const { owner, leaseMs, pollMs, timers = systemTimers } = options;
  const { records, source, logger, random } = ports;
  const accountPorts: ReadAccountPorts = {
    ...ports,
    fetchLimit: new Limit({ size: FETCHES, stallMs: FETCH_STALL_MS }),
    recordLimits: { received: new Limit({ size: RECORDINGS }), sent: new Limit({ size: SENT_RECORDINGS }) },
  };
  const connects = new Limit({ size: CONNECTS });
  const reconnects = new Limit({ size: RECONNECTS });
  const readings = new Map<string, Reading>();
  let accounts = options.accounts;
  let accountIds = accounts.map(({ id }) => id);
  let own: ReadonlySet<string> = new Set(accountIds);

  function follow(next: readonly MailboxAccount[]): void {
    const before = new Map(accounts.map((account) => [account.id, account]));
    accounts = next;
    accountIds = next.map(({ id }) => id);
    own = new Set(accountIds);
    const now = new Map(next.map((account) => [account.id, account]));
    for (const [id, reading] of readings) {
      const account = now.get(id);
      if (account?.settings !== before.get(id)?.settings || account === undefined)
        leaveSoon(reading, 'the account was changed');
    }
    leaseLoop.wake();
  }

  function leaveSoon(reading: Reading, reason: string): void {
    reading.leave.abort(new Error(reason));
    reading.wait?.abort();
  }

  /** While files can't be stored, another process that can read the accounts has them. */
  async function stepBack(): Promise<void> {
    const ending = [...readings.values()];
    for (const reading of ending) abort(reading);
    await Promise.all(ending.map(({ done }) => done));
    await records.leave(owner);
  }

  async function keepLeases(): Promise<void> {
    if (!ports.mayStoreFiles()) return await stepBack();
    const free = await claim([]);
    if (free.length > 0) await claim(free);
  }

  /** Returns the free accounts of this process' share. */
  async function claim(take: readonly string[]): Promise<readonly string[]> {
    const leaseUntil = timers.now() + leaseMs;
    const leases = await records.claim(owner, { accountIds, take, leaseMs });
    for (const [id, reading] of readings) {
      if (leases.holders.get(id) === owner) {
        // The lease of one that is given back is not renewed.
        if (own.has(id)) reading.leaseUntil = leaseUntil;
        if (leases.due.has(id)) reading.wait?.abort();
      } else lose(id, reading);
    }
    const shares = spreadAccounts([{ id: owner, accountIds: own }, ...leases.others], leases.holders);
    for (const account of accounts) {
      const isHeld = leases.holders.get(account.id) === owner;
      if (isHeld && shares.get(account.id) === owner && !readings.has(account.id)) begin(account, leaseUntil);
    }
    await handOver(leases, shares);
    return accountIds.filter((id) => leases.holders.get(id) === null && shares.get(id) === owner);
  }

  async function handOver({ holders }: Leases, shares: ReadonlyMap<string, string>): Promise<void> {
    const others = accountIds.filter((id) => holders.get(id) === owner && shares.get(id) !== owner);
    // Of accounts that this process is no longer to read.
    const dropped = [...holders].flatMap(([id, holder]) => (holder === owner && !own.has(id) ? [id] : []));
    const ended = [...others, ...dropped].filter((id) => !readings.has(id));
    if (ended.length > 0) {
      await records.release(owner, ended);
      logger.info({ accounts: ended.length, left: readings.size }, 'accounts were given back');
    }
    const free = [...shares.keys()].filter((id) => holders.get(id) === null).length;
    const leaving = [...readings.values()].filter(({ leave }) => leave.signal.aborted).length;
    const staying = others.filter((id) => readings.get(id)?.leave.signal.aborted === false);
    for (const id of staying.slice(0, Math.max(0, HAND_OVERS - free - ended.length - leaving))) {
      const reading = readings.get(id);
      if (reading !== undefined) leaveSoon(reading, 'the account is handed to another process');
    }
  }

  function lose(id: string, reading: Reading): void {
    if (!reading.stop.signal.aborted)
      logger.warn({ accountId: id }, 'this process no longer reads the account');
    abort(reading);
  }

  function abort(reading: Reading): void {
    const reason = new Error('the reading of the account was stopped');
    reading.stop.abort(reason);
    reading.leave.abort(reason);
    reading.wait?.abort();
  }

  function begin(account: MailboxAccount, leaseUntil: number): void {
    const reading: Reading = {
      stop: new AbortController(),
      leave: new AbortController(),
      leaseUntil,
      wait: null,
      // Later, when it is in the map.
      done: Promise.resolve().then(() => keepReading(account, reading)),
    };
    readings.set(account.id, reading);
  }

  async function keepReading({ id, since, isOwn, capture }: MailboxAccount, reading: Reading): Promise<void> {
    const { signal } = reading.stop;
    const leave = reading.leave.signal;
    let failures = 0;
    // Since INBOX was read; a slow attempt that fails counts as well, and a short one that had read it does not.
    let unread = 0;
    while (!leave.aborted) {
      const startedAt = timers.now();
      let progressed = false;
      let wasRead = false;
      const onProgress = () => {
        progressed = true;
      };
      const beginWait = () => {
        wasRead = true;
        reading.wait = new AbortController();
        if (leave.aborted) reading.wait.abort();
        return reading.wait.signal;
      };
      try {
        await records.noteAttempt(owner, id);
        const limit = failures === 0 ? connects : reconnects;
        const session = await limit.run(() => source.connect(id, leave), { signal: leave });
        const cut = () => {
          // The close below reports its failures.
          session.close().catch(() => undefined);
        };
        signal.addEventListener('abort', cut, { once: true });
        try {
          leave.throwIfAborted();
          const account = {
            owner,
            accountId: id,
            since,
            isOwn,
            capture,
            pollMs,
            signal,
            leave,
            beginWait,
            onProgress,
          };
          await readAccount(accountPorts, session, account);
        } finally {
          signal.removeEventListener('abort', cut);
          await session.close();
        }
      } catch (error) {
        if (leave.aborted || error instanceof LeaseLost) break;
        if (progressed || timers.now() - startedAt > GOOD_SESSION_MS) failures = 0;
        failures += 1;
        unread = progressed || wasRead ? 1 : unread + 1;
        // It failed at one message: the others, and new ones, do not have to wait long.
        if (error instanceof MailboxError && error.uid !== null)
          failures = Math.min(failures, MESSAGE_FAILURES);
        const kind = failureOf(error);
        const retryMs = accountRetryDelay(kind, failures, random());
        if (failures % FAILURES_PER_LOG_LINE === 1) {
          const level = kind === 'service' && !(error instanceof ServiceError) ? 'error' : 'warn';
          logger[level]({ err: error, accountId: id, retryMs }, 'an account could not be read; trying again');
        }
        // A connection that the next attempt restores is no failure.
        const isLasting = kind === 'credentials' || unread > 1;
        await note(id, { kind, reason: reasonOf(error), retryMs, isLasting });
        await rest(timers, retryMs, leave);
      }
    }
    readings.delete(id);
    // A round gives it back.
    if (!signal.aborted) leaseLoop.wake();
  }

  async function note(id: string, failure: Parameters<typeof records.noteAccountFailure>[2]): Promise<void> {
    try {
      await records.noteAccountFailure(owner, id, failure);
      ports.onFailing?.();
    } catch (err) {
      // It may be the very failure to be noted; the next try finds out if the account is still ours.
      logger.debug({ err, accountId: id }, 'the failure of an account could not be noted');
    }
  }

  const leaseLoop = startLoop({
    intervalMs: leaseMs / RENEWALS_PER_LEASE,
    wokenMs: GATHER_MS,
    failure: 'accounts could not be claimed for reading their mailboxes',
    logger,
    timers,
    run: keepLeases,
  });
  // Also when the database does not answer.
  const guardLoop = startLoop({
    intervalMs: leaseMs / CHECKS_PER_LEASE,
    failure: 'leases of accounts could not be checked',
    logger,
    timers,
    async run() {
      for (const [id, reading] of readings) if (timers.now() > reading.leaseUntil) lose(id, reading);
    },
  });
  let stopped: Promise<void> | null = null;

  async function stopAll(): Promise<void> {
    await guardLoop.stop();
    for (const reading of readings.values()) abort(reading);
    await leaseLoop.stop();
    // The last round may have begun some.
    const last = [...readings.entries()];
    for (const [, reading] of last) abort(reading);
    await Promise.all(last.map(([, reading]) => reading.done));
    try {
      await records.leave(owner);
    } catch (err) {
      logger.warn(
        { err, leaseMs },
        'accounts could not be released; other processes take over when the lease expires',
      );
    }
  }
  return {
    wake: (accountId) => readings.get(accountId)?.wait?.abort(),
    look: leaseLoop.wake,
    count: () => readings.size,
    follow,
    stop: () => (stopped ??= stopAll()),
  };
}

function failureOf(error: unknown): AccountFailure {
  return error instanceof MailboxError ? error.kind : 'service';
}

function rest(timers: Timers, ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      cancel();
      signal.removeEventListener('abort', end);
      resolve();
    };
    const cancel = timers.after(ms, end);
    if (signal.aborted) end();
    else signal.addEventListener('abort', end, { once: true });
  });
}
