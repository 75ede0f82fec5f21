/**
 * The loop that empties the send queue: it claims due sends while connections are free, hands them over, keeps the leases
 * of those under way, and looks after claims that no hand-over works on. Any number of processes run one each.
 */
import { handOverClaim, type HandOverClaimPorts } from './hand-over-claim.ts';
import type { HandOverResult } from './hand-over.ts';
import type { Claim, SendQueue } from './queue-ports.ts';
import { giveBack, settleClaims } from './settle-claims.ts';
import type { TransportResult } from './transport-ports.ts';
import { isConnectionFailure } from './store-outcome.ts';
import type { RateLimit } from '../../core/delivery/rate-window.ts';
import { startJournalSettler } from './journal-settler.ts';
import { createFailureLog } from '../../platform/base/failure-log.ts';
import { startLoop, type Loop } from '../../platform/base/loop.ts';
import { RENEWALS_PER_LEASE } from '../../platform/base/leases.ts';
import { systemTimers, type Timers } from '../../platform/base/timers.ts';

export interface SendQueuePorts extends HandOverClaimPorts {
  readonly queue: SendQueue;
}

export interface SendQueueOptions {
  readonly accounts: readonly QueueAccount[];
  /** Every account that any process may send for: sends of others are given up. Default: `accounts`. */
  readonly allAccountIds?: () => readonly string[];
  /** How long a silent process keeps its claims, in ms. */
  readonly leaseMs: number;
  /** How often to look for sends that became due, or that another process queued, in ms. */
  readonly pollMs: number;
  /** Default: those of the system. */
  readonly timers?: Timers;
}

export interface QueueAccount {
  readonly id: string;
  /** Hand-overs at the same time; at least 1. */
  readonly slots: number;
  readonly rate: RateLimit;
}

export interface SendQueueLoop extends Loop {
  /** Something may be due now. */
  wake(): void;
  /** Replaces the accounts. Of an account that is gone, only what is under way is carried to its end. */
  follow(accounts: readonly QueueAccount[]): void;
}

/** A hand-over begins only while this share of its lease is left: some time passes until the first byte. */
const LEASE_RESERVE = 0.1;
/** A hand-over that has taken this long is shown as `sending`; most end long before, which saves the extra write. */
const SHOWN_AFTER_MS = 1_000;
/** The maximum number of claims in one statement; it bounds what a process that dies at once leaves behind. */
const MAX_CLAIMS = 32;
/** Claims in hand for each simultaneous hand-over: those that wait get their turn without a separate statement. */
const CLAIMS_PER_SLOT = 4;
/**
 * Answered claims whose outcomes are being stored, many of them together; with more, the database is too slow to claim
 * further ones.
 */
const MAX_UNSTORED = 256;
/** How often to look for sends that no process will ever claim; they have waited for days. */
const ORPHANS_INTERVAL_MS = 10 * 60_000;
/** A mail server that can't be reached is left alone for a while, twice as long each time. */
const PAUSE_MS = 500;
const MAX_PAUSE_MS = 30_000;

interface AccountState {
  readonly id: string;
  slots: number;
  rate: RateLimit;
  /** Nothing further is handed over: the account was paused or deleted. */
  isGone: boolean;
  /** Claims that the mail server has not answered. */
  inHand: number;
  /** Answered claims that are not settled yet. */
  unstored: number;
  /** The claims in hand that have their turn now. */
  running: number;
  /** Each function gives a claim in hand its turn. */
  readonly waiting: (() => void)[];
  /** Nothing was due at the last look, and nothing that this process knows of has become due since. */
  isEmpty: boolean;
  lastLane: string;
  failures: number;
  /** By `Timers.now`. */
  pausedUntil: number;
  /** When its rate limits let a message through again, by `Timers.now`. */
  fullUntil: number;
}

interface Run {
  readonly claim: Claim;
  readonly done: Promise<void>;
  /** When its hand-over began, by `Timers.now`; null: it has not begun, or is already shown. */
  toShowSince: number | null;
}

/** Runs by the ids of their claims. */
type Runs = ReadonlyMap<string, Run>;

const isLimited = ({ rate }: AccountState) => rate.perMinute !== null || rate.perDay !== null;

/** Sends of an account with limits are counted when they are claimed, so none is claimed before its turn. */
function wantedBy(account: AccountState): number {
  const { slots, inHand } = account;
  return (isLimited(account) ? slots : slots * CLAIMS_PER_SLOT) - inHand;
}

/** Starts the loop, and the one that settles the journal, without which it claims nothing. */
export function startSendQueue(ports: SendQueuePorts, options: SendQueueOptions): SendQueueLoop {
  const { leaseMs, pollMs, timers = systemTimers } = options;
  const { queue, held, settling, logger } = ports;
  const { owner } = ports.journal;
  const toState = ({ id, slots, rate }: QueueAccount): AccountState => ({
    id,
    slots,
    rate,
    isGone: false,
    inHand: 0,
    unstored: 0,
    running: 0,
    waiting: [],
    isEmpty: false,
    lastLane: '',
    failures: 0,
    pausedUntil: 0,
    fullUntil: 0,
  });
  let accounts: readonly AccountState[] = options.accounts.map(toState);
  const runs = new Map<string, Run>();
  const status = { stopping: false };
  // An earlier process may have left claims.
  let claimsDue = true;
  let hasClaimed = false;
  let wakeRequested = false;
  let wakeUp: () => void = () => {};

  const goOn = () => {
    wakeRequested = true;
    wakeUp();
  };

  function follow(next: readonly QueueAccount[]): void {
    const before = new Map(accounts.map((account) => [account.id, account]));
    accounts = next.map((account) => {
      const known = before.get(account.id);
      before.delete(account.id);
      return known === undefined ? toState(account) : Object.assign(known, account);
    });
    for (const gone of before.values()) {
      gone.isGone = true;
      // Each gives its claim back.
      endWaiting(gone);
    }
    wake();
  }

  const wake = () => {
    for (const account of accounts) account.isEmpty = false;
    goOn();
  };

  async function rest(): Promise<void> {
    if (wakeRequested || status.stopping) return;
    await new Promise<void>((resolve) => {
      const cancel = timers.after(restMs(), () => {
        wake();
        resolve();
      });
      wakeUp = () => {
        cancel();
        resolve();
      };
    });
    wakeUp = () => {};
  }

  /** Until the next look, or until the limits of an account let a message through. */
  function restMs(): number {
    const now = timers.now();
    const waits = accounts.map(({ fullUntil }) => fullUntil - now).filter((waitMs) => waitMs > 0);
    return Math.min(pollMs, ...waits);
  }

  async function work(): Promise<void> {
    const failures = createFailureLog(logger, 'the send queue can not be worked on; trying again');
    while (!status.stopping) {
      wakeRequested = false;
      let claimed = 0;
      try {
        if (claimsDue) await settle();
        if (!settling.holdsUpQueue()) claimed = await claimDue();
        failures.worked();
      } catch (error) {
        // A failed call may have worked on the server's side.
        claimsDue = true;
        failures.failed(error);
      }
      if (claimed === 0) await rest();
    }
  }

  async function settle(): Promise<void> {
    claimsDue = false;
    // A run gives its own claim back, and is not waited for.
    const givenUp = () => held.givenUp().filter(({ claimId }) => !runs.has(claimId));
    await settleClaims({ ...ports, held: { ...held, givenUp } }, !hasClaimed);
    for (const account of accounts) account.isEmpty = false;
  }

  async function claimDue(): Promise<number> {
    const free = accounts.filter(takesMore);
    // If only one account is asked about, the claim itself shows if something is due.
    const [only, ...others] = free;
    if (only === undefined) return 0;
    for (const account of free) account.isEmpty = true;
    if (others.length === 0) return await claimFor(only);
    const due = new Set(await queue.dueAccounts(free.map(({ id }) => id)));
    let claimed = 0;
    for (const account of free) {
      if (due.has(account.id) && !status.stopping) claimed += await claimFor(account);
    }
    return claimed;
  }

  /** False until many are wanted: they share the statement. */
  function takesMore(account: AccountState): boolean {
    const { waiting, slots, unstored, isEmpty, isGone, pausedUntil, fullUntil } = account;
    if (isGone || unstored >= MAX_UNSTORED || fullUntil > timers.now()) return false;
    const least = isLimited(account) ? 1 : Math.min(slots, MAX_CLAIMS);
    return wantedBy(account) >= least && waiting.length < slots && !isEmpty && pausedUntil <= timers.now();
  }

  async function claimFor(account: AccountState): Promise<number> {
    hasClaimed = true;
    const { claims, lastLane, waitMs } = await queue.claim({
      accountId: account.id,
      owner: owner,
      limit: Math.min(wantedBy(account), MAX_CLAIMS),
      leaseMs,
      afterLane: account.lastLane,
      rate: account.rate,
      withFiles: ports.mayReadFiles(),
    });
    account.lastLane = lastLane;
    account.fullUntil = waitMs === 0 ? 0 : timers.now() + waitMs;
    if (claims.length > 0) account.isEmpty = false;
    for (const claim of claims) begin(account, claim);
    return claims.length;
  }

  function begin(account: AccountState, claim: Claim): void {
    account.inHand += 1;
    held.begin(claim);
    runs.set(claim.claimId, { claim, done: carryOut(account, claim), toShowSince: null });
  }

  async function turnOf(account: AccountState): Promise<void> {
    if (account.running < account.slots) account.running += 1;
    else await new Promise<void>((resolve) => account.waiting.push(resolve));
  }

  /** Passes the turn to the claim that has waited longest. */
  function endTurn(account: AccountState): void {
    const next = account.waiting.shift();
    if (next === undefined) account.running -= 1;
    else next();
  }

  /** Gives every claim its turn now, to give up. */
  function endWaiting(account: AccountState): void {
    account.running += account.waiting.length;
    for (const next of account.waiting.splice(0)) next();
  }

  /** The database decides; the clock can only refuse, when the database's answer took too long. */
  async function mayBegin(account: AccountState, claim: Claim): Promise<boolean> {
    if (status.stopping || account.isGone) return false;
    const leaseUntil = timers.now() + leaseMs;
    if (!(await queue.begin(owner, claim, leaseMs))) return false;
    const own = runs.get(claim.claimId);
    if (own !== undefined) own.toShowSince = timers.now();
    return !status.stopping && !account.isGone && timers.now() < leaseUntil - leaseMs * LEASE_RESERVE;
  }

  async function carryOut(account: AccountState, claim: Claim): Promise<void> {
    await turnOf(account);
    let hasTurn = true;
    const endOwnTurn = (result?: TransportResult) => {
      if (!hasTurn) return;
      hasTurn = false;
      // Before others are claimed: those would be given up.
      if (result !== undefined) note(account, result);
      account.inHand -= 1;
      account.unstored += 1;
      endTurn(account);
      if (takesMore(account)) goOn();
    };
    try {
      const result = mayTry(account)
        ? await handOverClaim(ports, claim, {
            mayBegin: () => mayBegin(account, claim),
            onAnswered: endOwnTurn,
          })
        : giveUpUntried(claim);
      if (result.kind === 'given_up') await giveUp(account, claim);
      else if (result.kind === 'ended') endOwnTurn(result.result);
    } catch (err) {
      // A full disk, for instance: nothing was handed over, or the journal has the attempt.
      held.end(claim);
      claimsDue = true;
      pause(account);
      logger.error({ err, emailId: claim.emailId }, 'a hand-over failed');
    }
    runs.delete(claim.claimId);
    endOwnTurn();
    account.unstored -= 1;
    if (claimsDue || takesMore(account)) goOn();
  }

  const mayTry = (account: AccountState) =>
    !status.stopping && !account.isGone && account.pausedUntil <= timers.now();

  function giveUpUntried(claim: Claim): HandOverResult {
    held.giveUp(claim);
    return { kind: 'given_up' };
  }

  /** Never throws: a claim that can't be given back now is given back when claims are settled. */
  async function giveUp(account: AccountState, claim: Claim): Promise<void> {
    try {
      await giveBack(ports, claim);
      account.isEmpty = false;
    } catch (err) {
      claimsDue = true;
      logger.warn({ err, emailId: claim.emailId }, 'a claim could not be released yet');
    }
  }

  function note(account: AccountState, result: TransportResult): void {
    if (isConnectionFailure(result)) pause(account);
    else account.failures = 0;
  }

  function pause(account: AccountState): void {
    const pauseMs = Math.min(PAUSE_MS * 2 ** account.failures, MAX_PAUSE_MS);
    account.failures += 1;
    account.pausedUntil = timers.now() + pauseMs;
    endWaiting(account);
  }

  const heartbeat = startHeartbeat(ports, { leaseMs, timers }, runs, () => {
    claimsDue = true;
  });
  const slowOnes = showSlow(ports, { leaseMs, timers }, runs);
  const settler = startJournalSettler(ports, wake, timers);
  const orphanLoop = startLoop({
    intervalMs: ORPHANS_INTERVAL_MS,
    failure: 'sends of accounts that are not configured could not be given up',
    logger,
    timers,
    async run() {
      const known = options.allAccountIds?.() ?? accounts.map(({ id }) => id);
      const orphans = await queue.giveUpOrphans(known);
      if (orphans > 0) logger.warn({ orphans }, 'sends of accounts that are not configured are given up');
    },
  });
  const worked = work();
  let stopped: Promise<void> | null = null;
  return {
    wake,
    follow,
    stop() {
      status.stopping = true;
      for (const account of accounts) endWaiting(account);
      wake();
      return (stopped ??= worked
        .then(() => Promise.all([...runs.values()].map((run) => run.done)))
        .then(() => Promise.all([heartbeat.stop(), slowOnes.stop(), orphanLoop.stop(), settler.stop()]))
        // Outcomes that were stored are still being removed from the journal.
        .then(() => held.idle()));
    },
  };
}

/** Renews the leases of hand-overs under way, and declares the claims of silent processes lost. */
function startHeartbeat(
  { queue, journal: { owner }, logger }: SendQueuePorts,
  { leaseMs, timers }: Required<Pick<SendQueueOptions, 'leaseMs' | 'timers'>>,
  runs: Runs,
  onBeat: () => void,
): Loop {
  return startLoop({
    intervalMs: leaseMs / RENEWALS_PER_LEASE,
    failure: 'leases of the send queue could not be renewed',
    logger,
    timers,
    async run() {
      const claims = [...runs.values()].map(({ claim }) => claim);
      if (claims.length > 0) await queue.renew(owner, claims, leaseMs);
      for (const { emailId, attempt } of await queue.expire(owner)) {
        logger.warn({ emailId, attempt }, 'the sending process stopped responding; the outcome is unknown');
      }
      onBeat();
    },
  });
}

/** Shows emails as `sending` when their hand-over takes long. */
function showSlow(
  { queue, journal: { owner }, logger }: SendQueuePorts,
  { leaseMs, timers }: Required<Pick<SendQueueOptions, 'leaseMs' | 'timers'>>,
  runs: Runs,
): Loop {
  const afterMs = Math.min(SHOWN_AFTER_MS, leaseMs / RENEWALS_PER_LEASE);
  return startLoop({
    intervalMs: afterMs,
    failure: 'sends whose hand-over takes long could not be shown as such',
    logger,
    timers,
    async run() {
      const before = timers.now() - afterMs;
      const slow = [...runs.values()].filter(
        ({ toShowSince }) => toShowSince !== null && toShowSince <= before,
      );
      if (slow.length === 0) return;
      await queue.showSending(
        owner,
        slow.map(({ claim }) => claim),
      );
      for (const one of slow) one.toShowSince = null;
    },
  });
}
