/** Waiting for a condition, never for a time. */
import { setTimeout as sleep } from 'node:timers/promises';

/** Polls until the condition holds; throws with `what` when it does not within `timeoutMs` (default 60 s). */
export async function waitUntil(
  what: string,
  condition: () => boolean | Promise<boolean>,
  timeoutMs = 60_000,
): Promise<void> {
  const deadline = performance.now() + timeoutMs;
  while (!(await condition())) {
    if (performance.now() > deadline) throw new Error(`waited in vain until ${what}`);
    await sleep(5);
  }
}
