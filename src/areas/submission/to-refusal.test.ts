import { expect, it } from 'vitest';
import { silentLogger } from '../../../test/helpers/silent-logger.ts';
import { ERRORS, type ErrorCode } from '../../core/error-registry.ts';
import { ServiceError } from '../../core/errors.ts';
import { refuse } from '../../core/submission/refusal.ts';
import { toRefusal } from './to-refusal.ts';

const textOf = (error: unknown) => {
  const { code, status } = toRefusal(error, silentLogger);
  return `${code} ${status}`;
};

it.each([
  [refuse(552, '5.3.4', 'x'), '552 5.3.4'],
  [new ServiceError('recipient_suppressed'), '550 5.7.1'],
  [new ServiceError('database_unavailable'), '451 4.3.0'],
  [new ServiceError('idempotency_in_progress'), '451 4.3.0'],
  [new ServiceError('loop_suspected'), '450 4.4.6'],
  [new ServiceError('disk_full'), '452 4.3.1'],
  [new Error('a bug'), '451 4.3.0'],
])('answers %s by %s', (error, expected) => {
  expect(textOf(error)).toBe(expected);
});

it('never refuses for good what may succeed later, and the other way round', () => {
  for (const code of Object.keys(ERRORS) as ErrorCode[]) {
    const { temporary } = ERRORS[code];
    expect([code, textOf(new ServiceError(code))[0]]).toEqual([code, temporary ? '4' : '5']);
    expect(textOf(new ServiceError(code))).toMatch(/^([45])\d\d \1\.\d\.\d$/);
  }
});
