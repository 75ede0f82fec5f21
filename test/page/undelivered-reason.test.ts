/** A status of a mail server becomes a reason that a clerk understands. */
import { expect, it } from 'vitest';
import { reasonOf } from '../../page/src/features/thread/undelivered-reason.ts';

it.each([
  ['5.1.1', 'no_such_address'],
  ['5.1.10', 'no_such_address'],
  ['5.2.1', 'no_such_address'],
  ['5.2.2', 'mailbox_full'],
  ['4.2.2', 'mailbox_full'],
  ['5.2.3', 'too_large'],
  ['5.3.4', 'too_large'],
  ['5.4.1', 'unreachable'],
  ['4.4.7', 'unreachable'],
  ['5.7.1', 'refused'],
  ['5.0.0', 'other'],
  ['', 'other'],
  [null, 'other'],
] as const)('%s is %s', (status, reason) => {
  expect(reasonOf(status)).toBe(reason);
});
