/**
 * The end of a stop, whatever hangs. Work that mail servers and storages have not answered is cut off first, so that it can still be recorded;
 * then the database's connections are, so that what waits for them gets an error and its caller an answer. A start that is interrupted before
 * it can have begun a send has nothing to wait for: all of it is cut off at once.
 */
import { setMaxListeners } from 'node:events';
import type { Logger } from '../platform/base/basics.ts';
import { systemTimers, type Timers } from '../platform/base/timers.ts';
import type { Config } from '../config/config.ts';

/** The last part of the shutdown time, in which work that was cut off is recorded and answered, in ms. */
const MAX_WRAP_UP_MS = 5000;

export interface CutOff {
  /** Aborted when the database's connections are to be cut. */
  readonly database: AbortSignal;
  /** The part is cut off with the mail servers. */
  add(part: { abort(): void }): void;
  /** From now on work may be under way that gets its time. */
  workBegins(): void;
  /** The stop begins, if it has not begun. */
  plan(): void;
  /** When the stop is to be over; plans it. By `performance.now()`, as the others. */
  stopBy(): number;
  /** When requests that were not answered lose their connections; plans the stop. */
  hangUpAt(): number;
  /** Everything has ended. */
  cancel(): void;
}

export function createCutOff(
  { shutdownTimeoutMs }: Pick<Config, 'shutdownTimeoutMs'>,
  logger: Logger,
  timers: Timers = systemTimers,
): CutOff {
  const wrapUpMs = Math.min(MAX_WRAP_UP_MS, shutdownTimeoutMs / 4);
  const database = new AbortController();
  // One listener for each connection.
  setMaxListeners(0, database.signal);
  const parts: { abort(): void }[] = [];
  let isWorking = false;
  let isCut = false;
  let by: number | null = null;
  let cancels: (() => void)[] = [];

  function cutParts(): void {
    isCut = true;
    for (const part of parts) part.abort();
  }

  const steps: readonly (readonly [beforeMs: number, cut: () => void])[] = [
    [
      wrapUpMs,
      () => {
        logger.warn(
          {},
          'sends or files were still running near the end of the shutdown time; they are cut off',
        );
        cutParts();
      },
    ],
    [
      wrapUpMs / 2,
      () => {
        logger.warn(
          {},
          'the database was still needed near the end of the shutdown time; its connections are cut off',
        );
        database.abort();
      },
    ],
  ];

  function stopBy(): number {
    if (by !== null) return by;
    by = timers.now() + shutdownTimeoutMs;
    if (isWorking) {
      cancels = steps.map(([beforeMs, cut]) => timers.after(shutdownTimeoutMs - beforeMs, cut));
    } else {
      cutParts();
      database.abort();
    }
    return by;
  }

  return {
    database: database.signal,
    add(part) {
      parts.push(part);
      if (isCut) part.abort();
    },
    workBegins: () => (isWorking = true),
    plan: () => void stopBy(),
    stopBy,
    hangUpAt: () => stopBy() - wrapUpMs / 4,
    cancel: () => cancels.splice(0).forEach((cancel) => cancel()),
  };
}
