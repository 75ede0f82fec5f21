import { expect, it } from 'vitest';
import { createIdSource } from './id-source.ts';

it('makes UUIDs of version 7 that differ and ascend with time', () => {
  const { uuid } = createIdSource();
  const ids = Array.from({ length: 2000 }, uuid);
  expect(new Set(ids).size).toBe(ids.length);
  for (const id of ids)
    expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  const times = ids.map((id) => id.slice(0, 13));
  expect(times).toEqual(times.toSorted());
});

it('never gives the same bytes twice, whatever lengths are asked for', () => {
  const { randomBytes } = createIdSource();
  const seen = new Set(
    Array.from({ length: 3000 }, (_, index) => randomBytes(16 + (index % 5)).toString('hex')),
  );
  expect(seen.size).toBe(3000);
  expect(randomBytes(10_000)).toHaveLength(10_000);
});
