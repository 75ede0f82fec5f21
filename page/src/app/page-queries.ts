/** The query cache: how answers are kept and reloaded. */
import { QueryClient } from '@tanstack/react-query';
import { EmailWorkerError } from 'email-worker-client';

/** Data that the event stream reports as stale is reloaded at once; this covers missed events. */
const STALE_AFTER_MS = 60_000;
const KEPT_MS = 10 * 60_000;
const MAX_RETRIES = 2;

export function createPageQueries(): QueryClient {
  return new QueryClient({
    defaultOptions: {
      queries: {
        staleTime: STALE_AFTER_MS,
        gcTime: KEPT_MS,
        // A request that the service refused would be refused again.
        retry: (failures, error) =>
          failures < MAX_RETRIES &&
          !(error instanceof EmailWorkerError && error.status !== null && error.status < 500),
      },
      // Without a network an act fails at once. Otherwise it would wait, and be carried out when the network is back: also a deletion that was
      // cancelled meanwhile.
      mutations: { networkMode: 'always' },
    },
  });
}
