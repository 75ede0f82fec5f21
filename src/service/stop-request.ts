/**
 * The request to stop the service, as it comes by signals: once, or again from a person or supervisor that can't wait.
 */
import type { Logger } from '../platform/base/basics.ts';

export interface StopRequest {
  /** Aborted by the first signal; an interrupted start throws its reason. */
  readonly signal: AbortSignal;
  /** Resolves at the first signal. */
  readonly made: Promise<void>;
  /** By `performance.now()`; Infinity before the first signal. */
  madeAt(): number;
}

/** `process`, or a replacement for it. */
interface SignalSource {
  on(signal: NodeJS.Signals, listener: (signal: NodeJS.Signals) => void): unknown;
  exit(code: number): void;
}

/** SIGHUP: the terminal was closed. By default it would end the process at once. */
const STOP_SIGNALS = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const;

/**
 * Signals within this time after the first are the same request, in ms: Ctrl-C reaches npm and the service, and npm
 * passes it on; supervisors signal a whole group. Shorter than the patience of a person who presses Ctrl-C again.
 */
const SAME_WISH_MS = 3_000;

/** To be called at the very start: a stop during the start takes down the parts started by then. */
export function listenForStop(source: SignalSource, logger: Logger): StopRequest {
  const controller = new AbortController();
  let madeAt = Infinity;
  let resolveMade: () => void = () => {};
  const made = new Promise<void>((resolve) => {
    resolveMade = resolve;
  });
  const onSignal = (signal: NodeJS.Signals): void => {
    if (controller.signal.aborted) {
      if (performance.now() - madeAt < SAME_WISH_MS) return;
      // Nothing is lost: the next start continues with what was left.
      logger.warn({ signal }, 'email-worker was asked again to stop, and ends at once');
      source.exit(1);
      return;
    }
    madeAt = performance.now();
    logger.info({ signal }, 'email-worker is stopping');
    controller.abort(new Error(`stopped by ${signal}`));
    resolveMade();
  };
  for (const name of STOP_SIGNALS) source.on(name, onSignal);
  return { signal: controller.signal, made, madeAt: () => madeAt };
}
