/** Asks every dependency whether it is there, at the same time, each with a deadline. */
import type { Readiness, ReadinessCheck } from './application.ts';

export type Probes = Readonly<Record<ReadinessCheck['name'], () => Promise<void>>>;

/** How long a dependency may take to answer, in ms: what is slower would time out requests too. */
const DEADLINE_MS = 5000;
/** An answer serves for this long, in ms, so that many askers don't mean many connections to the mail server. */
const FRESH_MS = 2000;

/** Returns `Application.checkReadiness`. */
export function createReadiness(probes: Probes, clock: () => Date): () => Promise<Readiness> {
  let latest: { readonly at: number; readonly readiness: Promise<Readiness> } | null = null;

  return () => {
    const now = clock().getTime();
    if (latest === null || now - latest.at > FRESH_MS) latest = { at: now, readiness: ask(probes) };
    return latest.readiness;
  };
}

async function ask(probes: Probes): Promise<Readiness> {
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
