import type { FeedSignal } from './event-ports.ts';

/** @param onWait called when a caller begins to wait */
export function createFeedSignal(onWait: () => void): FeedSignal {
  const waiters = new Set<() => void>();
  const listeners: (() => void)[] = [];
  return {
    get waiting() {
      return waiters.size;
    },

    notify() {
      for (const wake of waiters) wake();
      for (const listener of listeners) listener();
    },

    onGrowth(listener) {
      listeners.push(listener);
    },

    wait(timeoutMs, signal) {
      if (signal.aborted) return Promise.resolve();
      return new Promise((resolve) => {
        const end = () => {
          clearTimeout(timer);
          signal.removeEventListener('abort', end);
          waiters.delete(end);
          resolve();
        };
        const timer = setTimeout(end, timeoutMs);
        signal.addEventListener('abort', end, { once: true });
        waiters.add(end);
        onWait();
      });
    },
  };
}
