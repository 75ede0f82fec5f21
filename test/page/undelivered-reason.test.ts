/** A status of a mail server becomes a reason that a clerk understands. */
import { expect, it } from 'vitest';
import { reasonOf, sendReasonOf } from '../../page/src/features/thread/undelivered-reason.ts';

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

it.each([
  ['the message was refused: 550 5.1.1 <x@y.test>: no such user', 'no_such_address'],
  ['every recipient refused: 552 mailbox', 'other'],
  ['2 on the suppression list or unsubscribed; every recipient refused: 550 5.7.1 no', 'suppressed'],
  ['no valid reply to the end of the message: connection lost', 'interrupted'],
  ['the service ended while the email was being handed over', 'interrupted'],
  ['failed before the message: timeout', 'mail_server'],
  ['gave up after 5 days: failed before the message: timeout', 'mail_server'],
  ['restored from a backup of 2026-01-01T00:00:00.000Z: it may have been sent since', 'restored'],
  ['writing to the outbox folder failed: ENOSPC', 'unnamed'],
] as const)('what was noted of a send, %j, is %s', (detail, reason) => {
  expect(sendReasonOf(detail)).toBe(reason);
});
