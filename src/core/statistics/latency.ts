/**
 * Latency of emails, kept as counts in fixed buckets, so that hours can be added up to days and a median of them computed. A
 * figure is as exact as its bucket is narrow.
 */

/** The upper bounds of all buckets but the last, in ms, ascending: each is 2 to 4 times the previous one. */
export const BUCKET_BOUNDS_MS = [
  25, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 30_000, 60_000, 180_000, 600_000, 1_800_000, 7_200_000,
  28_800_000,
] as const;

/** Stands for the upper bound of the last bucket, which has none: the largest that a column of whole numbers takes. */
export const NO_BOUND_MS = 2_147_483_647;

export interface LatencyBucket {
  /** One of `BUCKET_BOUNDS_MS`, or `NO_BOUND_MS`. The bucket's emails took less. */
  readonly belowMs: number;
  readonly emails: number;
  /** Total time of these emails. */
  readonly totalMs: number;
}

/** In whole ms. */
export interface Latency {
  /** Emails whose time is known, at least one. */
  readonly emails: number;
  readonly meanMs: number;
  readonly medianMs: number;
  /** 95 of 100 emails took no longer. */
  readonly p95Ms: number;
}

/** The time between two moments, in whole ms, as stored: never negative, though the clocks of two machines differ. */
export function tookMs(from: Date, to: Date): number {
  return Math.min(Math.max(Math.round(to.getTime() - from.getTime()), 0), NO_BOUND_MS);
}

/** Buckets of the same bound count together. null for no emails. */
export function toLatency(buckets: readonly LatencyBucket[]): Latency | null {
  const merged = new Map<number, LatencyBucket>();
  for (const { belowMs, emails, totalMs } of buckets) {
    const before = merged.get(belowMs) ?? { emails: 0, totalMs: 0 };
    merged.set(belowMs, { belowMs, emails: before.emails + emails, totalMs: before.totalMs + totalMs });
  }
  const ascending = [...merged.values()].filter(({ emails }) => emails > 0).sort(byBound);
  const emails = ascending.reduce((sum, bucket) => sum + bucket.emails, 0);
  if (emails === 0) return null;
  const totalMs = ascending.reduce((sum, bucket) => sum + bucket.totalMs, 0);
  return {
    emails,
    meanMs: Math.round(totalMs / emails),
    medianMs: quantile(ascending, emails * 0.5),
    p95Ms: quantile(ascending, emails * 0.95),
  };
}

const byBound = (a: LatencyBucket, b: LatencyBucket): number => a.belowMs - b.belowMs;

/** The time that `rank` of the emails took at most. Within a bucket, emails are assumed to be spread evenly around its mean. */
function quantile(ascending: readonly LatencyBucket[], rank: number): number {
  let passed = 0;
  for (const bucket of ascending) {
    if (passed + bucket.emails >= rank) return Math.round(within(bucket, (rank - passed) / bucket.emails));
    passed += bucket.emails;
  }
  throw new RangeError('there are fewer emails than the rank');
}

/** @param share of its emails, up to 1 */
function within({ belowMs, emails, totalMs }: LatencyBucket, share: number): number {
  const mean = totalMs / emails;
  const lower = BUCKET_BOUNDS_MS.findLast((bound) => bound < belowMs) ?? 0;
  const reach = Math.max(0, Math.min(mean - lower, belowMs - mean));
  return mean + reach * (2 * share - 1);
}
