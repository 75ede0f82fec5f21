/**
 * Counts failed log-ins by address and slows down an address that fails again and again. Only failing requests are ever refused for it: a
 * valid secret works at any time, so that a stranger behind the same proxy or NAT can't lock out the program that has it. The length of the
 * secrets is what keeps guesses from succeeding; this keeps them few and visible.
 */
import type { SecurityLog } from '../../base/security-log.ts';
import { isWorthTelling, WindowCounts } from '../../../core/edge/window-counts.ts';

/** Wrong secrets of an address within a minute that are still answered as wrong; a person or a program with a typo sends fewer. */
export const MAX_FAILURES = 50;
const WINDOW_MS = 60_000;
/** Addresses that are counted; some 200 bytes each. Beyond this number the oldest are forgotten. */
const MAX_ADDRESSES = 10_000;
/** Wrong secrets of all addresses within a minute: guesses from many addresses are slowed down together. */
export const MAX_ALL_FAILURES = 1000;
const ALL = 'all';

/** `ended`: a session that is over, whose cookie a browser sends until its page notices. */
export type LoginFailure = 'missing' | 'wrong' | 'ended';

export class LoginFailures {
  readonly #wrong = new WindowCounts({ windowMs: WINDOW_MS, maxKeys: MAX_ADDRESSES });
  readonly #harmless = new WindowCounts({ windowMs: WINDOW_MS, maxKeys: MAX_ADDRESSES });
  readonly #all = new WindowCounts({ windowMs: WINDOW_MS, maxKeys: 1 });
  readonly #security: SecurityLog;
  readonly #now: () => number;

  /** @param now in milliseconds, by a clock that never goes back */
  constructor(security: SecurityLog, now: () => number) {
    this.#security = security;
    this.#now = now;
  }

  /**
   * Counts and logs the failure. Returns the seconds until the address may fail again when it, or all addresses together, have failed too
   * often; else null. A request without any secret is not a guess and is never slowed down, nor is one with an ended session.
   */
  note(address: string, reason: LoginFailure): number | null {
    const now = this.#now();
    const isWrong = reason === 'wrong';
    const { count, endsAt } = (isWrong ? this.#wrong : this.#harmless).add(address, now);
    if (isWorthTelling(count)) this.#security.note('login.failed', { address, reason, count });
    if (!isWrong) return null;
    if (count === MAX_FAILURES + 1) this.#security.note('login.throttled', { address, count });
    const all = this.#all.add(ALL, now);
    if (all.count === MAX_ALL_FAILURES + 1)
      this.#security.note('login.throttled', { address: ALL, count: all.count });
    const ends = [
      ...(count > MAX_FAILURES ? [endsAt] : []),
      ...(all.count > MAX_ALL_FAILURES ? [all.endsAt] : []),
    ];
    return ends.length === 0 ? null : Math.max(1, Math.ceil((Math.max(...ends) - now) / 1000));
  }
}
