/** Checks that every dependency is available: all at the same time, each with a deadline. */

export interface Readiness {
  readonly ready: boolean;
  readonly checks: readonly ReadinessCheck[];
}

export interface ReadinessCheck {
  readonly name: 'database' | 'storage' | 'smtp';
  readonly ok: boolean;
  /** English reason; null when ok. */
  readonly detail: string | null;
}

export type Probes = Readonly<Record<ReadinessCheck['name'], () => Promise<void>>>;

/** How long a dependency may take to answer, in ms: what is slower would time out requests too. */
const DEADLINE_MS = 5000;
/** See `Application.checkReadiness`. */
export async function checkReadiness(probes: Probes): Promise<Readiness> {
  const names = Object.keys(probes) as ReadinessCheck['name'][];
  const checks = await Promise.all(names.map((name) => probe(name, probes[name])));
  return { ready: checks.every((check) => check.ok), checks };
}

async function probe(name: ReadinessCheck['name'], ask: () => Promise<void>): Promise<ReadinessCheck> {
  let timer: NodeJS.Timeout | undefined;
  const deadline = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer within ${DEADLINE_MS} ms`)), DEADLINE_MS);
  });
  try {
    await Promise.race([ask(), deadline]);
    return { name, ok: true, detail: null };
  } catch (error) {
    return { name, ok: false, detail: error instanceof Error ? error.message : String(error) };
  } finally {
    clearTimeout(timer);
  }
}
