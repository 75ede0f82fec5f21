import { expect, it, vi } from 'vitest';
import type { Caller } from '../../core/keys/caller.ts';
import type { Right } from '../../core/keys/rights.ts';
import { ServiceError } from '../../core/errors.ts';
import { RefusedSubmission } from '../../core/submission/refusal.ts';
import type { AccessLog } from '../../platform/access/access-log.ts';
import type { ShownKey } from '../../platform/access/key-ring.ts';
import { CallerShares } from '../../platform/http/connections/caller-shares.ts';
import { LoginFailures, MAX_FAILURES } from '../../platform/http/connections/login-failures.ts';
import { createLogIns, type LogInPorts } from './log-in.ts';

const KEY = `ewk_${'k'.repeat(12)}_${'s'.repeat(43)}`;

const shown = (rights: readonly Right[], rateLimit = 2): ShownKey => ({
  caller: {
    author: { kind: 'key', id: 'k'.repeat(12), name: 'erp' },
    rights,
    accounts: ['shop'],
    expiresAt: null,
    rateLimit,
  } satisfies Caller,
  isValid: () => true,
});

function start(keys: Partial<LogInPorts['keys']> = {}) {
  const access = {
    noteLogin: vi.fn<AccessLog['noteLogin']>(),
    noteRight: vi.fn<AccessLog['noteRight']>(),
  };
  const logIns = createLogIns({
    secrets: ['the secret of the service'],
    keys: { findByHash: () => null, whyRefused: () => null, ...keys },
    failures: new LoginFailures({ note: () => undefined }, () => 0),
    shares: new CallerShares({ ratePerMinute: 1000, atOnce: 1 }, () => 0),
    access,
  });
  const refusal = async (work: Promise<unknown>) => {
    try {
      await work;
      return null;
    } catch (error) {
      if (!(error instanceof RefusedSubmission)) throw error;
      return `${error.refusal.code} ${error.refusal.status}`;
    }
  };
  return { ...logIns, access, refusal };
}

const isKey = (id: string) => id === 'k'.repeat(12);

it('takes a key with the right to send, and a secret', async () => {
  const key = shown(['send']);
  const { logIn, callerOf } = start({ findByHash: (id) => (isKey(id) ? key : null) });
  expect(await callerOf(await logIn(KEY, '192.0.2.1'))).toBe(key.caller);
  const secret = await logIn('the secret of the service', '192.0.2.1');
  expect((await callerOf(secret)).rights).toEqual(['admin']);
});

it('refuses a key that may not send, and says so in the audit log', async () => {
  const { logIn, refusal, access } = start({ findByHash: () => shown(['read', 'draft', 'operate']) });
  expect(await refusal(logIn(KEY, '192.0.2.1'))).toBe('535 5.7.8');
  expect(access.noteRight).toHaveBeenCalledWith(expect.objectContaining({ kind: 'key' }), 'send');
});

it('tells an address that guesses to wait; a valid key works all the same', async () => {
  const { logIn, refusal, access } = start({ findByHash: (id) => (isKey(id) ? shown(['send']) : null) });
  for (let guess = 0; guess < MAX_FAILURES; guess += 1)
    expect(await refusal(logIn('guess', '192.0.2.1'))).toBe('535 5.7.8');
  expect(await refusal(logIn('guess', '192.0.2.1'))).toBe('421 4.7.0');
  expect(await refusal(logIn('guess', '192.0.2.2'))).toBe('535 5.7.8');
  expect(await refusal(logIn(KEY, '192.0.2.1'))).toBe(null);
  expect(access.noteLogin).toHaveBeenCalledWith('192.0.2.1', null, 'invalid_credentials');
});

it('puts a client off while keys can not be checked', async () => {
  const away = () => Promise.reject(new ServiceError('database_unavailable'));
  const { logIn, refusal } = start({ findByHash: away });
  expect(await refusal(logIn(KEY, '192.0.2.1'))).toBe('454 4.7.0');
});

it('takes as many messages as the share of the key allows', async () => {
  const { logIn, countMessage, refusal } = start({ findByHash: () => shown(['send']) });
  const opened = await logIn(KEY, '192.0.2.1');
  const replies = await Promise.all([1, 2, 3].map(() => refusal(countMessage(opened))));
  expect(replies).toEqual([null, null, '450 4.7.0']);
});

it('follows the key of an open connection: its limit, its end', async () => {
  let now: ShownKey | null = shown(['send'], 1);
  const { logIn, countMessage, callerOf, refusal } = start({ findByHash: () => now });
  const opened = await logIn(KEY, '192.0.2.1');
  now = shown(['send'], 3);
  const replies = await Promise.all([1, 2, 3, 4].map(() => refusal(countMessage(opened))));
  expect(replies).toEqual([null, null, null, '450 4.7.0']);
  now = null;
  expect(await refusal(countMessage(opened))).toBe('530 5.7.0');
  expect(await refusal(callerOf(opened))).toBe('530 5.7.0');
});
