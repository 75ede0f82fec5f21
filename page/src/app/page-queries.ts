/** How answers of the service are kept, asked for again, and what ends the session. */
import { MutationCache, QueryCache, QueryClient } from '@tanstack/react-query';
import { EmailWorkerError } from 'email-worker-client';
import { endSession } from './session-gate.tsx';

/** What the event stream tells to be stale is asked for at once; this is for what it missed. */
const STALE_AFTER_MS = 60_000;
const KEPT_MS = 10 * 60_000;
const MAX_RETRIES = 2;

export function createPageQueries(): QueryClient {
  const onError = (error: unknown): void => {
    if (error instanceof EmailWorkerError && error.code === 'unauthorized') endSession(queries, false);
  };
  const queries = new QueryClient({
    queryCache: new QueryCache({ onError }),
    mutationCache: new MutationCache({ onError }),
    defaultOptions: {
      queries: {
        staleTime: STALE_AFTER_MS,
        gcTime: KEPT_MS,
        // What the service refuses, it refuses again.
        retry: (failures, error) =>
          failures < MAX_RETRIES &&
          !(error instanceof EmailWorkerError && error.status !== null && error.status < 500),
      },
    },
  });
  return queries;
}
