/**
 * The loop that reads mailboxes: claims accounts for this process, keeps a connection for each, connects again after
 * failures, ever more rarely, and at once lets go of accounts that another process has taken over.
 */
import { MailboxError, type MailboxSource } from '../app/mailboxes/mailbox-ports.ts';
import { LeaseLost } from '../app/mailboxes/mailbox-record-ports.ts';
import { Limit } from '../app/base/limit.ts';
import { systemTimers, type Timers } from '../app/base/timers.ts';
import { readAccount, type ReadAccountPorts } from '../app/mailboxes/read-account.ts';
import { reasonOf } from '../app/mailboxes/take-messages.ts';
import { ServiceError } from '../core/errors.ts';
import { accountRetryDelay, type AccountFailure } from '../core/mailbox/retry.ts';
import { startLoop, type Loop } from './loop.ts';

export interface MailboxReaderPorts extends Omit<ReadAccountPorts, 'fetchLimit' | 'recordLimits'> {
  readonly source: Pick<MailboxSource, 'connect'>;
  /** From 0 (inclusive) to 1 (exclusive). */
  readonly random: () => number;
}

export interface MailboxReaderOptions {
  /** What tells this process from others that share the database; a UUID that survives restarts. */
  readonly owner: string;
  readonly accounts: readonly MailboxAccount[];
  /** How long a silent process keeps its accounts, in ms. */
  readonly leaseMs: number;
  /** How long a mailbox may go without being checked, in ms. */
  readonly pollMs: number;
  /** Of leases and of waiting; default: those of the system. */
  readonly timers?: Timers;
}

export interface MailboxReader extends Loop {
  /** Something of the account may be tried now. */
  wake(accountId: string): void;
}

export interface MailboxAccount {
  readonly id: string;
  /** See `SyncOptions`. */
  readonly since: Date | null;
}

/** Renewals in one lease: two may be lost before it runs out. */
const RENEWALS_PER_LEASE = 3;
/** How often to look whether a lease ran out. */
const CHECKS_PER_LEASE = 10;
/** Accounts that fetch messages at the same moment; it bounds memory. */
const FETCHES = 8;
/** How long a fetch may get nothing, as when a server hangs, before others need not wait for it, in ms. */
const FETCH_STALL_MS = 15_000;
/** Messages being recorded at the same moment, which are written together; bounds the memory of all accounts. */
const RECORDINGS = 64;
/** Sent copies are compared with sends, one by one: each takes a database connection, which sends need too. */
const SENT_RECORDINGS = 4;
/** Connections being made at the same moment. Accounts that failed wait among themselves only. */
const CONNECTS = 32;
const RECONNECTS = 16;
/** After a connection that lasted so long, in ms, the next failure counts as the first one. */
const GOOD_SESSION_MS = 60_000;
/** A connection that broke at a certain message counts as so many failures at most. */
const MESSAGE_FAILURES = 2;
/** A failure that stays the same is logged again only after so many. */
const FAILURES_PER_LOG_LINE = 20;

interface Reading {
  readonly stop: AbortController;
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
  const accountIds = options.accounts.map(({ id }) => id);

  async function keepLeases(): Promise<void> {
    const leaseUntil = timers.now() + leaseMs;
    const claimed = await records.claim(owner, accountIds, leaseMs);
    for (const [id, reading] of readings) {
      const claim = claimed.get(id);
      if (claim === undefined) lose(id, reading);
      else {
        reading.leaseUntil = leaseUntil;
        if (claim.due) reading.wait?.abort();
      }
    }
    for (const account of options.accounts) {
      if (claimed.has(account.id) && !readings.has(account.id)) begin(account, leaseUntil);
    }
  }

  function lose(id: string, reading: Reading): void {
    if (!reading.stop.signal.aborted) logger.warn({ accountId: id }, 'the account is not read here any more');
    abort(reading);
  }

  function abort(reading: Reading): void {
    reading.stop.abort(new Error('the reading of the account was stopped'));
    reading.wait?.abort();
  }

  function begin(account: MailboxAccount, leaseUntil: number): void {
    const stop = new AbortController();
    const reading: Reading = {
      stop,
      leaseUntil,
      wait: null,
      // Later, when it is in the map.
      done: Promise.resolve().then(() => keepReading(account, reading)),
    };
    readings.set(account.id, reading);
  }

  async function keepReading({ id, since }: MailboxAccount, reading: Reading): Promise<void> {
    const { signal } = reading.stop;
    let failures = 0;
    while (!signal.aborted) {
      const startedAt = timers.now();
      let progressed = false;
      const onProgress = () => {
        progressed = true;
      };
      const beginWait = () => {
        reading.wait = new AbortController();
        if (signal.aborted) reading.wait.abort();
        return reading.wait.signal;
      };
      try {
        await records.noteAttempt(owner, id);
        const limit = failures === 0 ? connects : reconnects;
        const session = await limit.run(() => source.connect(id, signal), { signal });
        const cut = () => {
          // What goes wrong with it is told by the close below.
          session.close().catch(() => undefined);
        };
        signal.addEventListener('abort', cut, { once: true });
        try {
          signal.throwIfAborted();
          const account = { owner, accountId: id, since, pollMs, signal, beginWait, onProgress };
          await readAccount(accountPorts, session, account);
        } finally {
          signal.removeEventListener('abort', cut);
          await session.close();
        }
      } catch (error) {
        if (signal.aborted || error instanceof LeaseLost) break;
        if (progressed || timers.now() - startedAt > GOOD_SESSION_MS) failures = 0;
        failures += 1;
        // At one message: the others, and what is new, do not have to wait for long.
        if (error instanceof MailboxError && error.uid !== null)
          failures = Math.min(failures, MESSAGE_FAILURES);
        const kind = failureOf(error);
        const retryMs = accountRetryDelay(kind, failures, random());
        if (failures % FAILURES_PER_LOG_LINE === 1) {
          const level = kind === 'service' && !(error instanceof ServiceError) ? 'error' : 'warn';
          logger[level]({ err: error, accountId: id, retryMs }, 'an account could not be read; trying again');
        }
        await note(id, { kind, reason: reasonOf(error), retryMs });
        await rest(timers, retryMs, signal);
      }
    }
    readings.delete(id);
  }

  async function note(id: string, failure: Parameters<typeof records.noteAccountFailure>[2]): Promise<void> {
    try {
      await records.noteAccountFailure(owner, id, failure);
    } catch (err) {
      // The failure may be that very one; whether the account is still ours is found out at the next try.
      logger.debug({ err, accountId: id }, 'the failure of an account could not be noted');
    }
  }

  const leaseLoop = startLoop({
    intervalMs: leaseMs / RENEWALS_PER_LEASE,
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
      await records.release(owner, accountIds);
    } catch (err) {
      logger.warn(
        { err, leaseMs },
        'accounts could not be given back; others take them when the lease expires',
      );
    }
  }
  return {
    wake: (accountId) => readings.get(accountId)?.wait?.abort(),
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
