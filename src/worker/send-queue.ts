/**
 * The loop that empties the send queue: claims what is due while connections are free, hands it over, keeps the
 * leases of what is under way, and looks after claims that nobody works on. Any number of processes run one each.
 */
import { handOverClaim, type HandOverPorts, type HandOverResult } from '../app/hand-over-claim.ts';
import type { Claim } from '../app/queue-ports.ts';
import { settleClaims } from '../app/settle-claims.ts';
import type { RateLimit } from '../core/delivery/rate-window.ts';
import { startLoop, type Loop } from './loop.ts';

export interface SendQueueOptions {
  readonly accounts: readonly QueueAccount[];
  /** How long a silent process keeps its claims, in ms. */
  readonly leaseMs: number;
  /** How often to look for what became due, or was queued by another process, in ms. */
  readonly pollMs: number;
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
}

/** Renewals in one lease: two may be lost before it runs out. */
const RENEWALS_PER_LEASE = 3;
/** A hand-over begins only while this share of its lease is left: time stands between the check and the first byte. */
const LEASE_RESERVE = 0.1;
/** Claims in one statement at most; it bounds what a process that dies at once leaves behind. */
const MAX_CLAIMS = 32;
/** How often to look for sends that nobody will ever claim; they have waited for days. */
const ORPHANS_INTERVAL_MS = 10 * 60_000;
/** A mail server that can't be reached is left alone for a while, twice as long each time. */
const PAUSE_MS = 500;
const MAX_PAUSE_MS = 30_000;

interface AccountState extends QueueAccount {
  running: number;
  lastLane: string;
  failures: number;
  /** By `performance.now()`. */
  pausedUntil: number;
}

interface Run {
  readonly done: Promise<void>;
  /** By `performance.now()`, which goes on while the process is stopped. */
  leaseUntil: number;
}

export function startSendQueue(ports: HandOverPorts, options: SendQueueOptions): SendQueueLoop {
  const { leaseMs, pollMs } = options;
  const accounts = options.accounts.map((account): AccountState => ({
    ...account,
    running: 0,
    lastLane: '',
    failures: 0,
    pausedUntil: 0,
  }));
  const runs = new Map<string, Run>();
  const status = { stopping: false };
  // An earlier process may have left claims.
  let settlingDue = true;
  let wakeRequested = false;
  let wakeUp: () => void = () => {};

  const wake = () => {
    wakeRequested = true;
    wakeUp();
  };

  async function rest(): Promise<void> {
    if (wakeRequested || status.stopping) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, pollMs);
      wakeUp = () => {
        clearTimeout(timer);
        resolve();
      };
    });
    wakeUp = () => {};
  }

  async function work(): Promise<void> {
    let away = false;
    while (!status.stopping) {
      wakeRequested = false;
      let claimed = 0;
      try {
        if (settlingDue) await settle();
        claimed = await claimDue();
        away = false;
      } catch (err) {
        // Whatever failed may have worked on the server's side.
        settlingDue = true;
        if (!away) ports.logger.warn({ err }, 'the send queue can not be worked on; trying again');
        away = true;
      }
      if (claimed === 0) await rest();
    }
  }

  async function settle(): Promise<void> {
    settlingDue = false;
    // What was under way when the claims are read stays out, also when it ends meanwhile.
    const before = new Set(runs.keys());
    const complete = await settleClaims(ports, (emailId) => before.has(emailId) || runs.has(emailId));
    if (!complete) settlingDue = true;
  }

  async function claimDue(): Promise<number> {
    const now = performance.now();
    const free = accounts.filter((account) => account.running < account.slots && account.pausedUntil <= now);
    if (free.length === 0) return 0;
    const due = new Set(await ports.queue.dueAccounts(free.map(({ id }) => id)));
    let claimed = 0;
    for (const account of free) {
      if (due.has(account.id) && !status.stopping) claimed += await claimFor(account);
    }
    return claimed;
  }

  async function claimFor(account: AccountState): Promise<number> {
    const leaseUntil = performance.now() + leaseMs;
    const { claims, lastLane } = await ports.queue.claim({
      accountId: account.id,
      owner: ports.owner,
      limit: Math.min(account.slots - account.running, MAX_CLAIMS),
      leaseMs,
      afterLane: account.lastLane,
      rate: account.rate,
    });
    account.lastLane = lastLane;
    for (const claim of claims) begin(account, claim, leaseUntil);
    return claims.length;
  }

  function begin(account: AccountState, claim: Claim, leaseUntil: number): void {
    account.running += 1;
    const run: Run = { leaseUntil, done: carryOut(account, claim, () => mayBegin(run)) };
    runs.set(claim.emailId, run);
  }

  function mayBegin(run: Run): boolean {
    return !status.stopping && performance.now() < run.leaseUntil - leaseMs * LEASE_RESERVE;
  }

  async function carryOut(account: AccountState, claim: Claim, isOurs: () => boolean): Promise<void> {
    try {
      note(account, await handOverClaim(ports, claim, isOurs));
    } catch (err) {
      // A full disk, for instance: nothing was handed over, or the journal tells.
      settlingDue = true;
      pause(account);
      ports.logger.error({ err, emailId: claim.emailId }, 'a hand-over failed');
    }
    account.running -= 1;
    runs.delete(claim.emailId);
    wake();
  }

  function note(account: AccountState, result: HandOverResult): void {
    if (result.kind === 'unstored') settlingDue = true;
    if (result.kind !== 'stored') return;
    if (result.unreachable) pause(account);
    else account.failures = 0;
  }

  function pause(account: AccountState): void {
    const pauseMs = Math.min(PAUSE_MS * 2 ** account.failures, MAX_PAUSE_MS);
    account.failures += 1;
    account.pausedUntil = performance.now() + pauseMs;
  }

  const heartbeat = startHeartbeat(ports, leaseMs, runs, () => {
    settlingDue = true;
  });
  const orphanLoop = startLoop({
    intervalMs: ORPHANS_INTERVAL_MS,
    failure: 'sends of accounts that are not configured could not be given up',
    logger: ports.logger,
    async run() {
      const orphans = await ports.queue.giveUpOrphans(accounts.map(({ id }) => id));
      if (orphans > 0)
        ports.logger.warn({ orphans }, 'sends of accounts that are not configured are given up');
    },
  });
  const worked = work();
  let stopped: Promise<void> | null = null;
  return {
    wake,
    stop() {
      status.stopping = true;
      wake();
      return (stopped ??= worked
        .then(() => Promise.all([...runs.values()].map((run) => run.done)))
        .then(() => Promise.all([heartbeat.stop(), orphanLoop.stop()]))
        .then(() => undefined));
    },
  };
}

/** Renews the leases of what is under way, and takes for lost what silent processes have claimed. */
function startHeartbeat(
  { queue, owner, logger }: HandOverPorts,
  leaseMs: number,
  runs: ReadonlyMap<string, Run>,
  onBeat: () => void,
): Loop {
  return startLoop({
    intervalMs: leaseMs / RENEWALS_PER_LEASE,
    failure: 'leases of the send queue could not be renewed',
    logger,
    async run() {
      const leaseUntil = performance.now() + leaseMs;
      const renewed = runs.size === 0 ? [] : await queue.renew(owner, [...runs.keys()], leaseMs);
      for (const emailId of renewed) {
        const run = runs.get(emailId);
        if (run !== undefined) run.leaseUntil = leaseUntil;
      }
      for (const { emailId, attempt } of await queue.expire(owner)) {
        logger.warn({ emailId, attempt }, 'the process that was sending fell silent; the outcome is unknown');
      }
      onBeat();
    },
  });
}
