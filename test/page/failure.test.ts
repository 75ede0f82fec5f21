import { expect, it } from 'vitest';
import { EmailWorkerError } from '../../clients/typescript/src/errors.ts';
import { reasonOf } from '../../page/src/api/failure.ts';

const problem = (field: string) => ({
  field,
  code: 'invalid_address',
  error: `Ungültig: ${field}`,
  message: `Invalid: ${field}`,
});

it('a failed request says all of its mistakes, in the language of the page', () => {
  const fields = { code: 'invalid_address', text: 'Ungültig: to', englishText: 'Invalid: to' } as const;
  const several = new EmailWorkerError(
    { ...fields, field: '/to', problems: ['to', 'cc'].map(problem) },
    null,
  );
  expect(reasonOf(several, 'de')).toBe('Ungültig: to; Ungültig: cc');
  expect(reasonOf(several, 'en')).toBe('Invalid: to; Invalid: cc');
  expect(reasonOf(new EmailWorkerError({ ...fields, field: '/to' }, null), 'en')).toBe('Invalid: to');
  expect(reasonOf(new EmailWorkerError(fields, null), 'de')).toBe('Ungültig: to');
});
