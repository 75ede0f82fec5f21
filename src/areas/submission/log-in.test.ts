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

const shown = (rights: readonly Right[], isValid = true): ShownKey => ({
  caller: {
    author: { kind: 'key', id: 'k'.repeat(12), name: 'erp' },
    rights,
    accounts: ['shop'],
    expiresAt: null,
    rateLimit: 2,
  } satisfies Caller,
  isValid: () => isValid,
});

function start(keys: Partial<LogInPorts['keys']> = {}) {
  const access = {
    noteLogin: vi.fn<AccessLog['noteLogin']>(),
    noteRight: vi.fn<AccessLog['noteRight']>(),
  };
  const logIns = createLogIns({
    secrets: ['the secret of the service'],
    keys: { find: () => null, whyRefused: () => null, refresh: () => Promise.resolve(), ...keys },
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

it('takes a key with the right to send, and a secret', async () => {
  const key = shown(['send']);
  const { logIn } = start({ find: (token) => (token === KEY ? key : null) });
  expect(await logIn(KEY, '192.0.2.1')).toBe(key);
  expect((await logIn('the secret of the service', '192.0.2.1')).caller.rights).toEqual(['admin']);
});

it('refuses a key that may not send, and says so in the audit log', async () => {
  const { logIn, refusal, access } = start({ find: () => shown(['read', 'draft', 'operate']) });
  expect(await refusal(logIn(KEY, '192.0.2.1'))).toBe('535 5.7.8');
  expect(access.noteRight).toHaveBeenCalledWith(expect.objectContaining({ kind: 'key' }), 'send');
});

it('tells an address that guesses to wait; a valid key works all the same', async () => {
  const key = shown(['send']);
  const { logIn, refusal, access } = start({ find: (token) => (token === KEY ? key : null) });
  for (let guess = 0; guess < MAX_FAILURES; guess += 1)
    expect(await refusal(logIn('guess', '192.0.2.1'))).toBe('535 5.7.8');
  expect(await refusal(logIn('guess', '192.0.2.1'))).toBe('421 4.7.0');
  expect(await refusal(logIn('guess', '192.0.2.2'))).toBe('535 5.7.8');
  expect(await logIn(KEY, '192.0.2.1')).toBe(key);
  expect(access.noteLogin).toHaveBeenCalledWith('192.0.2.1', null, 'invalid_credentials');
});

it('puts a client off while keys can not be checked', async () => {
  const away = () => Promise.reject(new ServiceError('database_unavailable'));
  const { logIn, refusal } = start({ find: away });
  expect(await refusal(logIn(KEY, '192.0.2.1'))).toBe('454 4.7.0');
});

it('refuses the next message of a key that ended, and more messages than its share', async () => {
  const { requireUsable, refusal } = start();
  expect(await refusal(requireUsable(shown(['send'], false)))).toBe('530 5.7.0');
  const key = shown(['send']);
  const replies = await Promise.all([1, 2, 3].map(() => refusal(requireUsable(key))));
  expect(replies).toEqual([null, null, '450 4.7.0']);
});
