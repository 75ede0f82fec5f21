import { describe, expect, it } from 'vitest';
import type { EndedAct } from './audit-ports.ts';
import { AccessLogWriter } from './access-log.ts';

function createLog() {
  const log = {
    acts: [] as EndedAct[],
    isAway: false,
    async add(acts: readonly EndedAct[]) {
      if (log.isAway) throw new Error('away');
      log.acts.push(...acts);
    },
  };
  return log;
}

describe('refusals', () => {
  it('are one entry for each address and key, with their number', async () => {
    const log = createLog();
    const refusals = new AccessLogWriter(log);
    for (let time = 0; time < 1000; time += 1) refusals.noteLogin('192.0.2.1', null, 'invalid_credentials');
    refusals.noteLogin('192.0.2.1', '0123456789ab', 'invalid_credentials');
    refusals.noteRight({ kind: 'key', id: '0123456789ab', name: 'CRM' }, 'admin');
    await refusals.write();
    expect(log.acts).toEqual([
      {
        author: { kind: 'stranger', address: '192.0.2.1' },
        act: 'login.refused',
        target: null,
        code: 'invalid_credentials',
        details: { count: 1000 },
      },
      {
        author: { kind: 'stranger', address: '192.0.2.1' },
        act: 'login.refused',
        target: '0123456789ab',
        code: 'invalid_credentials',
        details: { count: 1 },
      },
      {
        author: { kind: 'key', id: '0123456789ab', name: 'CRM' },
        act: 'right.refused',
        target: null,
        code: 'forbidden_right',
        details: { right: 'admin', count: 1 },
      },
    ]);
    await refusals.write();
    expect(log.acts).toHaveLength(3);
  });

  it('of ever other addresses and keys are a few entries', async () => {
    const log = createLog();
    const refusals = new AccessLogWriter(log);
    for (let guess = 0; guess < 10_000; guess += 1)
      refusals.noteLogin(`address ${guess}`, `key ${guess}`, 'invalid_credentials');
    refusals.noteRight({ kind: 'secret', number: 1 }, 'send');
    await refusals.write();
    expect(log.acts).toHaveLength(22);
    expect(log.acts.find(({ author }) => author.kind === 'stranger' && author.address === 'others')).toEqual({
      author: { kind: 'stranger', address: 'others' },
      act: 'login.refused',
      target: null,
      code: 'invalid_credentials',
      details: { count: 9980 },
    });
  });

  it('that can not be written are counted on', async () => {
    const log = createLog();
    const refusals = new AccessLogWriter(log);
    for (let guess = 0; guess < 30; guess += 1)
      refusals.noteLogin(`address ${guess}`, null, 'invalid_credentials');
    log.isAway = true;
    await expect(refusals.write()).rejects.toThrow('away');
    for (let guess = 0; guess < 30; guess += 1)
      refusals.noteLogin(`address ${guess}`, null, 'invalid_credentials');
    log.isAway = false;
    await refusals.write();
    expect(log.acts).toHaveLength(21);
    expect(log.acts.reduce((sum, { details }) => sum + (details as { count: number }).count, 0)).toBe(60);
  });
});
