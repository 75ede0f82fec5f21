/** Logs when the service is ready, and until then once why it is not: it listens before it may be. */
import { once } from 'node:events';
import type { Logger } from '../platform/base/basics.ts';
import type { Readiness } from '../api/health/check-readiness.ts';
import { ServiceError } from '../core/errors.ts';
import { startLoop, type Loop } from '../platform/base/loop.ts';

/** Each check costs a log-in at the mail servers. A probe that finds the service ready is noticed at once. In ms. */
const RETRY_MS = 30_000;

export interface ReadyWatch {
  /** The same check as before, for probes. */
  readonly checkReadiness: () => Promise<Readiness>;
  /** Checks until the service has been ready once: later changes are for probes. @param url at which it listens by now */
  start(url: string): Loop;
}

export function createReadyWatch(checkReadiness: () => Promise<Readiness>, logger: Logger): ReadyWatch {
  let url: string | null = null;
  let isLogged = false;
  const check = async (): Promise<Readiness> => {
    const readiness = await checkReadiness();
    if (readiness.ready && url !== null && !isLogged) {
      isLogged = true;
      logger.info({ url }, 'email-worker is ready');
    }
    return readiness;
  };
  return {
    checkReadiness: check,
    start(at) {
      url = at;
      return startLoop({
        intervalMs: RETRY_MS,
        waitsForWake: true,
        failure: 'email-worker listens, but is not ready yet',
        logger,
        async run(signal) {
          if (isLogged) return;
          // A stop does not wait for a mail server that gives no answer.
          const readiness = await Promise.race([check(), once(signal, 'abort').then(() => null)]);
          if (readiness?.ready === false)
            throw new ServiceError('not_ready', { cause: new Error(`away: ${describe(readiness)}`) });
        },
      });
    },
  };
}

const describe = ({ checks }: Readiness): string =>
  checks
    .filter(({ ok }) => !ok)
    .map(({ name, code, detail }) => `${name}: ${[code, detail].filter((part) => part !== null).join(', ')}`)
    .join('; ');
