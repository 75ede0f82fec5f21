import { expect, it } from 'vitest';
import { UsedNames } from './used-names.ts';

it('never takes a used name for an unused one, and few unused ones for used', () => {
  const count = 5000;
  const used = new UsedNames(count);
  for (let number = 0; number < count; number += 1) used.add(`used ${number}`);
  let wrong = 0;
  for (let number = 0; number < count; number += 1) {
    expect(used.mayHave(`used ${number}`)).toBe(true);
    if (used.mayHave(`unused ${number}`)) wrong += 1;
  }
  // 2 or 3 are expected; with 50 something is wrong, whatever the salt.
  expect(wrong).toBeLessThan(50);
});

it('holds nothing without names', () => {
  expect(new UsedNames(0).mayHave('any')).toBe(false);
});
