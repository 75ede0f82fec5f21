import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { ServiceError } from '../../core/errors.ts';
import { createFileLogger, hideInLogs } from './logger.ts';

const folder = mkdtempSync(path.join(tmpdir(), 'email-worker-logger-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

let files = 0;
function logged(fields: object): unknown {
  files += 1;
  const file = path.join(folder, `${files}.log`);
  createFileLogger(file).warn(fields, 'text');
  return JSON.parse(readFileSync(file, 'utf8'));
}

async function refused(): Promise<Error> {
  const [error] = (await once(connect(1, '127.0.0.1'), 'error')) as [Error];
  return error;
}

it('tells a server that is away in words, and without a stack', async () => {
  const cause = await refused();
  expect(logged({ err: new ServiceError('database_unavailable', { cause }) })).toMatchObject({
    msg: 'text',
    err: {
      type: 'ServiceError',
      message: 'database_unavailable: connect ECONNREFUSED 127.0.0.1:1',
      code: 'database_unavailable',
    },
  });
  expect(logged({ err: cause })).not.toHaveProperty('err.stack');
  expect(logged({ err: new ServiceError('database_unavailable', { cause }) })).not.toHaveProperty(
    'err.stack',
  );
});

it('gives other errors their stack: a statement that took too long, and a fault of the program', () => {
  const slow = Object.assign(new Error('canceling statement due to statement timeout'), { code: '57014' });
  for (const err of [new ServiceError('database_unavailable', { cause: slow }), new TypeError('no')])
    expect(logged({ err })).toMatchObject({ err: { stack: expect.stringContaining('logger.test.ts') } });
});

it('ends where an error is its own cause, and passes what is no error', () => {
  const err = new Error('round');
  err.cause = err;
  expect(logged({ err })).toMatchObject({ err: { message: expect.stringContaining('round') } });
  expect(logged({ err: 'words' })).toMatchObject({ err: 'words' });
});

it('never writes secrets that stand in an address, wherever it is quoted', () => {
  const url = 'postgres://mail:hunter2@db.test/x?password=hunter2';
  const err = Object.assign(new TypeError(`Invalid URL: ${url}`, { cause: new Error(url) }), { input: url });
  expect(
    JSON.stringify(logged({ err, reason: url, list: [{ url }], arguments: `move --to ${url}` })),
  ).toMatch(/^(?!.*hunter2).*postgres:\/\/…@db\.test/s);
});

it('never writes secrets', () => {
  expect(logged({ account: { password: 'hunter2' }, secret: 'hunter2' })).toMatchObject({
    account: { password: '[Redacted]' },
    secret: '[Redacted]',
  });
});

it('never writes the secret of the service, whatever field or address a caller put it into', () => {
  const secret = 'of-the-service/"+\\0123';
  hideInLogs([secret]);
  const fields = { path: `/api/emails/${encodeURIComponent(secret)}`, after: { labels: [secret] } };
  expect(logged(fields)).toMatchObject({ path: '/api/emails/…', after: { labels: ['…'] } });
});
