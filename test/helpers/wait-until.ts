/** Waits for a condition, never for a fixed time. */
import { setTimeout as sleep } from 'node:timers/promises';

/** The longer the wait, the rarer the checks: in ms, and as a share of the time waited so far. */
const FIRST_PAUSE_MS = 5;
const LAST_PAUSE_MS = 50;
const PAUSE_SHARE = 0.1;

/** Polls until the condition holds; throws with `what` if it does not within `timeoutMs` (default 120 s). */
export async function waitUntil(
  what: string,
  condition: () => boolean | Promise<boolean>,
  timeoutMs = 120_000,
): Promise<void> {
  const started = performance.now();
  while (!(await condition())) {
    const waitedMs = performance.now() - started;
    if (waitedMs > timeoutMs) throw new Error(`waited in vain until ${what}`);
    await sleep(Math.min(Math.max(FIRST_PAUSE_MS, waitedMs * PAUSE_SHARE), LAST_PAUSE_MS));
  }
}
