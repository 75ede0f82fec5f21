import { describe, expect, it } from 'vitest';
import { BUCKET_BOUNDS_MS, NO_BOUND_MS, toLatency, tookMs, type LatencyBucket } from './latency.ts';

/** As the database counts them. */
function bucketsOf(times: readonly number[]): readonly LatencyBucket[] {
  return [...BUCKET_BOUNDS_MS, NO_BOUND_MS].map((belowMs, index) => {
    const own = times.filter((ms) => ms < belowMs && ms >= (BUCKET_BOUNDS_MS[index - 1] ?? 0));
    return { belowMs, emails: own.length, totalMs: own.reduce((sum, ms) => sum + ms, 0) };
  });
}

describe('how long emails took', () => {
  it('is not told of none', () => {
    expect(toLatency([])).toBeNull();
    expect(toLatency(bucketsOf([]))).toBeNull();
  });

  it('is exact for one', () => {
    for (const ms of [0, 24, 25, 333, 59_999, 90_000_000])
      expect(toLatency(bucketsOf([ms]))).toMatchObject({ emails: 1, meanMs: ms });
  });

  it('has a median and a 95th percentile within the bucket that they fall into', () => {
    const times = [...Array.from({ length: 90 }, () => 150), ...Array.from({ length: 10 }, () => 7000)];
    const latency = toLatency(bucketsOf(times));
    expect(latency).toMatchObject({ emails: 100, meanMs: 835 });
    expect(latency?.medianMs).toBeGreaterThanOrEqual(100);
    expect(latency?.medianMs).toBeLessThan(200);
    expect(latency?.p95Ms).toBeGreaterThanOrEqual(5000);
    expect(latency?.p95Ms).toBeLessThan(10_000);
  });

  it('is not told longer than what took longest beyond all bounds', () => {
    expect(toLatency(bucketsOf([100_000_000, 100_000_000]))?.p95Ms).toBeGreaterThanOrEqual(28_800_000);
  });

  it('is the same of hours that are added up in any order', () => {
    const first = bucketsOf([10, 300, 4000]);
    const second = bucketsOf([12, 300, 700_000]);
    expect(toLatency([...first, ...second])).toEqual(toLatency(bucketsOf([300, 700_000, 10, 4000, 300, 12])));
    expect(toLatency([...second, ...first])).toEqual(toLatency([...first, ...second]));
  });

  it('never runs backwards, whatever two clocks say', () => {
    const at = new Date(1000);
    expect([
      tookMs(at, new Date(1500)),
      tookMs(at, new Date(0)),
      tookMs(new Date(0), new Date(1e15)),
    ]).toEqual([500, 0, NO_BOUND_MS]);
  });
});
