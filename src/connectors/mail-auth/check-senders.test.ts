/** Messages that break the thread that checks senders. The thread's program is a double that breaks when a message asks for it. */
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeTempFolder } from '../../../test/helpers/temp-folder.ts';
import { silentLogger } from '../../../test/helpers/silent-logger.ts';
import type { AuthResults } from '../../core/message/authentication.ts';
import { createSenderCheck } from './check-senders.ts';

const GOOD: AuthResults = { spf: null, dkim: [], dmarc: { result: 'pass', domain: 'good.test' }, arc: null };
const KNOWN: AuthResults = { ...GOOD, dmarc: { result: 'fail', domain: 'victim.test' } };

const PROGRAM = `
import { parentPort } from 'node:worker_threads';
const waiting = [];
parentPort.on('message', ({ id, raw }) => {
  const text = Buffer.from(raw.bytes).toString();
  if (text.includes('known')) parentPort.postMessage({ kind: 'known', id, results: ${JSON.stringify(KNOWN)} });
  if (text.includes('unreadable')) parentPort.postMessage({ kind: 'unread', id, detail: 'no such file' });
  else if (text.includes('wait')) waiting.push(id);
  else if (text.includes('break')) setImmediate(() => process.exit(1));
  else if (text.includes('hang')) for (;;);
  else parentPort.postMessage({ kind: 'checked', id, results: ${JSON.stringify(GOOD)} });
});
`;

describe('a message', () => {
  let folder: Awaited<ReturnType<typeof makeTempFolder>>;
  let senders: ReturnType<typeof createSenderCheck>;

  beforeAll(async () => {
    folder = await makeTempFolder();
    const program = path.join(folder.path, 'program.mjs');
    await writeFile(program, PROGRAM);
    senders = createSenderCheck({ program, dnsServers: [], logger: silentLogger, timeoutMs: 2000 });
  });
  afterAll(async () => {
    await senders.close();
    await folder.remove();
  });

  const check = (text: string) =>
    senders.check({ raw: { kind: 'bytes', bytes: Buffer.from(text) }, client: null, mailFrom: null });

  it('that breaks the check has not passed, with the policy of From where that was found', async () => {
    expect(await check('known, break')).toEqual(KNOWN);
    expect((await check('break')).dmarc).toEqual({ result: 'permerror', domain: null });
    expect(await check('good')).toEqual(GOOD);
  });

  it('is checked although another breaks the thread meanwhile', async () => {
    const [good, broken] = await Promise.allSettled([check('good'), check('known, break')]);
    expect(good).toMatchObject({ value: GOOD });
    expect(broken).toMatchObject({ value: KNOWN });
  });

  it('that can not be checked in time, or not be read, is put off', async () => {
    await expect(check('known, hang')).rejects.toMatchObject({ code: 'busy' });
    await expect(check('unreadable')).rejects.toMatchObject({ code: 'busy' });
  });

  it('beyond those that are checked at the moment is put off, and never taken unchecked', async () => {
    const open = Array.from({ length: 200 }, () => check('wait'));
    await expect(check('good')).rejects.toMatchObject({ code: 'busy' });
    const outcomes = await Promise.allSettled(open);
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toEqual([]);
    expect(await check('good')).toEqual(GOOD);
  });
});
