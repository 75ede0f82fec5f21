/**
 * The loop that puts sent emails into the Sent mailboxes of their accounts. It begins a round when the watch finds a due
 * copy. Accounts are worked on in parallel; a failing one is left alone for longer and longer, and delays no other.
 */
import type { Logger } from '../../platform/base/basics.ts';
import { Limit } from '../../platform/base/limit.ts';
import { systemTimers, type Timers } from '../../platform/base/timers.ts';
import { AccountFailed, storeCopies, type StoreCopiesPorts } from './store-copies.ts';
import { ServiceError } from '../../core/errors.ts';
import { accountRetryDelay } from '../../core/mailbox/retry.ts';
import { startLoop, type WokenLoop } from '../../platform/base/loop.ts';

export interface SentCopierPorts extends Omit<StoreCopiesPorts, 'memory' | 'now'> {
  readonly logger: Logger;
}

export interface SentCopierOptions {
  /** The accounts that keep copies now. */
  readonly accountIds: () => readonly string[];
  /** How long a silent process keeps its claims, in ms. */
  readonly leaseMs: number;
  /** Default: those of the system. */
  readonly timers?: Timers;
}

/** The minimum between two rounds, in ms. */
const INTERVAL_MS = 500;
/** Accounts with a connection at the same moment. */
const ACCOUNTS = 8;
/** Bytes of messages in memory; a larger message goes alone. The library only takes a message as a whole. */
const MAX_BYTES = 16 * 1024 * 1024;
/** Messages in memory. */
const MAX_MESSAGES = ACCOUNTS;

interface Pause {
  readonly failures: number;
  readonly until: number;
  readonly reason: string;
}

export function startSentCopier(ports: SentCopierPorts, options: SentCopierOptions): WokenLoop {
  const { queue, logger, random } = ports;
  const { accountIds, leaseMs, timers = systemTimers } = options;
  const stopping = new AbortController();
  const accounts = new Limit({ size: ACCOUNTS });
  const storing: StoreCopiesPorts = {
    ...ports,
    memory: new Limit({ size: MAX_MESSAGES, maxWeight: MAX_BYTES }),
    now: () => timers.now(),
  };
  const running = new Map<string, Promise<void>>();
  const pauses = new Map<string, Pause>();

  async function work(accountId: string): Promise<void> {
    const { signal } = stopping;
    const pause = pauses.get(accountId);
    const leftMs = (pause?.until ?? 0) - timers.now();
    if (pause !== undefined && leftMs > 0) {
      await queue.putOff(accountId, leftMs, pause.reason);
      return;
    }
    try {
      await accounts.run(() => storeCopies(storing, { accountId, leaseMs, signal }), { signal });
      pauses.delete(accountId);
    } catch (error) {
      if (signal.aborted) return;
      if (!(error instanceof AccountFailed)) throw error;
      const failures = (pause?.failures ?? 0) + 1;
      const { kind, message } = error.reason;
      const delayMs = accountRetryDelay(kind, failures, random());
      pauses.set(accountId, { failures, until: timers.now() + delayMs, reason: message });
      logger.warn({ err: error.reason, accountId, retryMs: delayMs }, 'copies of sent emails are delayed');
      await queue.putOff(accountId, delayMs, message);
    }
  }

  function begin(accountId: string): void {
    const done = work(accountId)
      .catch((err: unknown) => {
        const level = err instanceof ServiceError && err.temporary ? 'warn' : 'error';
        logger[level]({ err, accountId }, 'copies of sent emails could not be stored; trying again');
      })
      .finally(() => running.delete(accountId));
    running.set(accountId, done);
  }

  const loop = startLoop({
    intervalMs: INTERVAL_MS,
    waitsForWake: true,
    failure: 'copies of sent emails can not be claimed',
    logger,
    timers,
    async run() {
      for (const accountId of await queue.dueAccounts(accountIds())) {
        if (!running.has(accountId)) begin(accountId);
      }
    },
  });

  return {
    wake: loop.wake,
    async stop() {
      stopping.abort(new Error('the service is stopping'));
      await loop.stop();
      await Promise.all(running.values());
    },
  };
}
