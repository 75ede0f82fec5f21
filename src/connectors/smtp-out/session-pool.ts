/**
 * Keeps SMTP sessions open and lends them out, first come first served. It does not deal with messages.
 *
 * A session is being opened, lent or idle; the sum never exceeds `maxConnections`. Sessions are opened only while a caller waits. When
 * opening fails while others are lent, callers keep waiting for those (a server may allow fewer connections than we do); when none is left,
 * every caller that has waited since before the failed attempt gets the error.
 */
import type { Logger } from '../../platform/base/basics.ts';
import { SessionError } from './open-session.ts';
import type { SessionOutcome, SmtpSession } from './smtp-session.ts';
import type { SmtpLimits } from './smtp-url.ts';

/** While other sessions work, no new one is opened for this time after a failed attempt. */
const REOPEN_DELAY_MS = 5_000;

const ABORTED = 'the service ended before the mail server answered';

export interface SessionPool {
  /** Lends a session. @throws {SessionError} when none can be lent: no connection, queue full, waited too long, closed */
  acquire(): Promise<SmtpSession>;
  /** Replaces a lent session that turned out to be dead with a fresh one. @throws {SessionError} and frees its slot */
  replace(session: SmtpSession): Promise<SmtpSession>;
  /** Returns a lent session. */
  release(session: SmtpSession, condition: SessionOutcome['session']): void;
  /** Cuts every session, lent ones included, and refuses waiting and later callers. */
  abort(): void;
  /** Serves every waiting caller, then sends QUIT on all sessions. A second call waits for the same end. */
  close(): Promise<void>;
}

export type SessionPoolLimits = Pick<
  SmtpLimits,
  'idleTimeoutMs' | 'queueTimeoutMs' | 'maxConnections' | 'maxMessagesPerConnection' | 'maxQueueLength'
>;

interface Waiter {
  readonly since: number;
  readonly resolve: (session: SmtpSession) => void;
  readonly reject: (error: SessionError) => void;
}

export function createSessionPool(
  open: () => Promise<SmtpSession>,
  limits: SessionPoolLimits,
  logger: Logger,
): SessionPool {
  const waiters: Waiter[] = [];
  /** Idle sessions and the timers that end them; the one used last is used next, so that others can end. */
  const idle = new Map<SmtpSession, NodeJS.Timeout>();
  const quitting = new Set<Promise<void>>();
  const borrowed = new Set<SmtpSession>();
  let lent = 0;
  let opening = 0;
  /** The start of the latest attempt that failed; null while attempts succeed or none is under way. */
  let failedAttemptAt: number | null = null;
  let reopenAt = 0;
  let queueTimer: NodeJS.Timeout | undefined;
  let closing: Promise<void> | null = null;
  let aborted = false;
  let onDrained: () => void = () => {};

  function openMore(): void {
    while (opening < waiters.length && opening + lent + idle.size < limits.maxConnections) {
      // After a failure the attempts under way are awaited: their result counts for all.
      const waitForVerdict = failedAttemptAt !== null && opening > 0;
      const leaveToOthers = lent > 0 && performance.now() < reopenAt;
      if (waitForVerdict || leaveToOthers) return;
      opening += 1;
      const startedAt = performance.now();
      open().then(
        (session) => {
          opening -= 1;
          failedAttemptAt = null;
          serve(session);
        },
        (error: unknown) => {
          opening -= 1;
          failAttempt(startedAt, error);
        },
      );
    }
  }

  function failAttempt(startedAt: number, error: unknown): void {
    failedAttemptAt = Math.max(failedAttemptAt ?? 0, startedAt);
    reopenAt = performance.now() + REOPEN_DELAY_MS;
    if (opening === 0) {
      const since = failedAttemptAt;
      failedAttemptAt = null;
      if (lent + idle.size === 0) rejectWaiters((waiter) => waiter.since <= since, toSessionError(error));
    }
    if (lent > 0)
      logger.warn({ err: error, open: lent }, 'no further SMTP connection; the open ones are kept');
    openMore();
    checkDrained();
  }

  /** Waiters are in order of arrival, so those concerned are the first ones. */
  function rejectWaiters(concerned: (waiter: Waiter) => boolean, error: SessionError): void {
    const count = waiters.findIndex((waiter) => !concerned(waiter));
    for (const waiter of waiters.splice(0, count === -1 ? waiters.length : count)) waiter.reject(error);
    armQueueTimer();
  }

  /** Hands a working session to the next in line. */
  function serve(session: SmtpSession): void {
    const next = session.usable ? waiters.shift() : undefined;
    if (next !== undefined) {
      lend(session);
      next.resolve(session);
    } else if (session.usable && closing === null) {
      rest(session);
    } else {
      retire(session);
    }
    if (waiters.length === 0) clearQueueTimer();
    openMore();
    checkDrained();
  }

  function lend(session: SmtpSession): void {
    lent += 1;
    borrowed.add(session);
  }

  function rest(session: SmtpSession): void {
    const timer = setTimeout(() => {
      idle.delete(session);
      retire(session);
    }, limits.idleTimeoutMs);
    idle.set(session, timer);
    session.onEnd(() => {
      clearTimeout(timer);
      idle.delete(session);
    });
  }

  function wake(session: SmtpSession): void {
    clearTimeout(idle.get(session));
    idle.delete(session);
    session.onEnd(() => {});
  }

  function retire(session: SmtpSession): void {
    const done = session.quit().finally(() => quitting.delete(done));
    quitting.add(done);
  }

  function armQueueTimer(): void {
    clearQueueTimer();
    const first = waiters[0];
    if (first === undefined) return;
    queueTimer = setTimeout(
      () => {
        const since = performance.now() - limits.queueTimeoutMs;
        const error = new SessionError(`no connection became free within ${limits.queueTimeoutMs} ms`);
        rejectWaiters((waiter) => waiter.since <= since, error);
        checkDrained();
      },
      Math.max(1, Math.ceil(first.since + limits.queueTimeoutMs - performance.now())),
    );
  }

  function clearQueueTimer(): void {
    clearTimeout(queueTimer);
    queueTimer = undefined;
  }

  function checkDrained(): void {
    // After an abort, no caller waits for a session that is being opened.
    if (waiters.length + lent + (aborted ? 0 : opening) === 0) onDrained();
  }

  function release(session: SmtpSession, condition: SessionOutcome['session']): void {
    if (condition === 'reset') {
      // The session stays lent until the server has confirmed the end of the transaction.
      session.reset().then(
        (ok) => release(session, ok ? 'ready' : 'dead'),
        () => release(session, 'dead'),
      );
      return;
    }
    lent -= 1;
    borrowed.delete(session);
    if (condition === 'ready' && session.messages < limits.maxMessagesPerConnection) {
      serve(session);
      return;
    }
    if (condition === 'ready') retire(session);
    else session.destroy();
    openMore();
    checkDrained();
  }

  async function drain(): Promise<void> {
    await new Promise<void>((resolve) => {
      onDrained = resolve;
      for (const session of idle.keys()) {
        wake(session);
        retire(session);
      }
      checkDrained();
    });
    await Promise.all(quitting);
  }

  return {
    acquire() {
      if (closing !== null) return Promise.reject(new SessionError('the transport is closed'));
      const session = [...idle.keys()].at(-1);
      if (session !== undefined) {
        wake(session);
        lend(session);
        return Promise.resolve(session);
      }
      if (waiters.length >= limits.maxQueueLength) {
        return Promise.reject(new SessionError(`${waiters.length} messages wait for a connection already`));
      }
      return new Promise((resolve, reject) => {
        waiters.push({ since: performance.now(), resolve, reject });
        if (queueTimer === undefined) armQueueTimer();
        openMore();
      });
    },
    async replace(session) {
      session.destroy();
      borrowed.delete(session);
      try {
        const fresh = await open();
        borrowed.add(fresh);
        if (aborted) fresh.destroy();
        return fresh;
      } catch (error) {
        lent -= 1;
        openMore();
        checkDrained();
        throw error;
      }
    },
    release,
    abort() {
      aborted = true;
      closing ??= drain();
      rejectWaiters(() => true, new SessionError(ABORTED));
      for (const session of borrowed) session.abort(ABORTED);
      checkDrained();
    },
    close() {
      closing ??= drain();
      return closing;
    },
  };
}

function toSessionError(error: unknown): SessionError {
  return error instanceof SessionError ? error : new SessionError('the connection failed');
}
