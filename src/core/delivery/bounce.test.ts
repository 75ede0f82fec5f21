import { expect, it } from 'vitest';
import { BOUNCE_CASES, describeBounce } from '../../../test/helpers/bounce-table.ts';

it.each(BOUNCE_CASES)(
  'reads what is told of each recipient, or that it is no bounce: $name',
  ({ raw, expected }) => {
    expect(describeBounce(raw)).toEqual(expected);
  },
);
