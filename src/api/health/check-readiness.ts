/** Checks that every dependency is available: all at the same time, each with a deadline. */
import type { ErrorCode } from '../../core/error-registry.ts';
import { ServiceError } from '../../core/errors.ts';
import type { ClockGuard } from '../../platform/base/clock-guard.ts';

export interface Readiness {
  readonly ready: boolean;
  readonly checks: readonly ReadinessCheck[];
}

export interface ReadinessCheck {
  readonly name: 'database' | 'storage' | 'smtp' | 'accounts' | 'clock' | 'events' | 'replica';
  readonly ok: boolean;
  /** Null when ok, and when it has no code of its own. */
  readonly code: ErrorCode | null;
  /** English reason; null when ok. */
  readonly detail: string | null;
}

type Probe = () => Promise<void>;

export type Probes = Readonly<Record<Exclude<ReadinessCheck['name'], 'replica'>, Probe>> & {
  /** Reads use another database while the replica is unavailable. */
  readonly replica?: Probe;
};

/** The service works without these: it refuses what it can't do for an account whose secrets it can't open. */
const HELPFUL: ReadonlySet<ReadinessCheck['name']> = new Set(['replica', 'accounts']);

/** Throws `clock_skewed`. A clock of the database that jumped stops no send; what waits for it is shown by `readClock`. */
export async function checkClock(guard: Pick<ClockGuard, 'measure'>): Promise<void> {
  const { isSkewed, offsetMs } = await guard.measure();
  if (isSkewed) throw new ServiceError('clock_skewed', { details: `${Math.round(offsetMs / 1000)} s` });
}

/** How long a dependency may take to answer, in ms: a slower one would time out requests too. */
const DEADLINE_MS = 5000;
/** See `Application.checkReadiness`. */
export async function checkReadiness(probes: Probes): Promise<Readiness> {
  const named = Object.entries(probes) as [ReadinessCheck['name'], Probe][];
  const checks = await Promise.all(named.map(([name, ask]) => probe(name, ask)));
  return { ready: checks.every(({ name, ok }) => ok || HELPFUL.has(name)), checks };
}

/** The message of an error of the service is only its code. */
function describe(error: unknown): string {
  const reason = error instanceof ServiceError && error.cause !== undefined ? error.cause : error;
  return reason instanceof Error ? reason.message : String(reason);
}

async function probe(name: ReadinessCheck['name'], ask: Probe): Promise<ReadinessCheck> {
  let timer: NodeJS.Timeout | undefined;
  const deadline = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer within ${DEADLINE_MS} ms`)), DEADLINE_MS);
  });
  try {
    await Promise.race([ask(), deadline]);
    return { name, ok: true, code: null, detail: null };
  } catch (error) {
    const code = error instanceof ServiceError ? error.code : null;
    return { name, ok: false, code, detail: describe(error) };
  } finally {
    clearTimeout(timer);
  }
}
