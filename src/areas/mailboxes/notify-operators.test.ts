import { expect, it } from 'vitest';
import { ServiceError } from '../../core/errors.ts';
import { isStorable } from '../../core/storable-text.ts';
import { silentLogger } from '../../../test/helpers/silent-logger.ts';
import type { FailingAccount } from './failing-accounts.ts';
import { notifyOperators, type Notice } from './notify-operators.ts';

const SINCE = new Date('2026-01-02T03:04:05.678Z');
const NEVER = new AbortController().signal;
const failure = (accountId: string, more: Partial<FailingAccount> = {}): FailingAccount => ({
  accountId,
  kind: 'credentials',
  reason: 'the log-in was refused',
  since: SINCE,
  isToBeNotified: true,
  ...more,
});

/** @param ids accounts that are in use; those in capitals write to the outbox folder */
function world(ids: readonly string[], failing: readonly FailingAccount[], send?: (key: string) => void) {
  const sent: (Notice & { readonly key: string })[] = [];
  const notified: string[] = [];
  const ports = {
    accounts: () => ids.map((id) => ({ id, isDelivering: id !== id.toUpperCase() })),
    failing: {
      list: async () => failing,
      setNotified: async (id: string) => void notified.push(id),
    },
    send: async (key: string, notice: Notice) => {
      send?.(key);
      sent.push({ key, ...notice });
    },
    logger: silentLogger,
  };
  return { sent, notified, run: () => notifyOperators(ports, NEVER) };
}

it('is sent by the first account that delivers mail and works', async () => {
  const { sent, notified, run } = world(
    ['OUTBOX', 'a', 'b', 'c'],
    [failure('a'), failure('b', { isToBeNotified: false })],
  );
  await run();
  expect(sent).toMatchObject([
    {
      key: 'account-failing a 2026-01-02T03:04:05.678Z',
      accountId: 'c',
      subject: "Account a: its mailbox can't be read",
    },
  ]);
  expect(sent[0]?.text).toContain('Reason: the log-in was refused');
  expect(notified).toEqual(['a']);
});

it('can be written whatever the server said, also where its words are cut', async () => {
  const { sent, run } = world(['a', 'b'], [failure('a', { reason: `${'x'.repeat(499)}\u{1f600}` })]);
  await run();
  // What is not well formed is refused by every send.
  expect(sent.map(({ text }) => isStorable(text))).toEqual([true]);
});

it('is sent by the account itself when there is no other, unless its log-in is refused', async () => {
  const connection = world(['a'], [failure('a', { kind: 'connection' })]);
  await connection.run();
  expect(connection.sent).toMatchObject([{ accountId: 'a' }]);
  const credentials = world(['a', 'OUTBOX'], [failure('a')]);
  await expect(credentials.run()).rejects.toThrow('no other account delivers mail');
  expect([credentials.sent, credentials.notified]).toEqual([[], []]);
  // One that can't be reported keeps no other one from it.
  const both = world(['a', 'b'], [failure('a'), failure('b', { kind: 'connection' })]);
  await expect(both.run()).rejects.toThrow('no other account delivers mail');
  expect(both.notified).toEqual(['b']);
});

it('is not noted when it could not be sent', async () => {
  const beingSent = world(['a', 'b'], [failure('a')], () => {
    throw new ServiceError('idempotency_in_progress');
  });
  await expect(beingSent.run()).rejects.toMatchObject({ code: 'idempotency_in_progress' });
  expect(beingSent.notified).toEqual([]);
});
