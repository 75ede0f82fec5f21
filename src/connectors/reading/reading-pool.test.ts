import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { silentLogger } from '../../../test/helpers/silent-logger.ts';
import { makeTempFolder, type TempFolder } from '../../../test/helpers/temp-folder.ts';
import { waitUntil } from '../../../test/helpers/wait-until.ts';
import { MAIL } from '../../platform/reading/reading-ports.ts';
import { createReadingPool, MAX_WAITING, type ReadingPool, type ReadingPoolOptions } from './reading-pool.ts';

const PROGRAM = fileURLToPath(new URL('../../../test/helpers/poison-reader.mjs', import.meta.url));
const ORPHANS = fileURLToPath(new URL('../../../test/helpers/orphaned-readers.mjs', import.meta.url));

let pool: ReadingPool | null = null;
let folder: TempFolder;
beforeEach(async () => {
  folder = await makeTempFolder();
});
afterEach(async () => {
  await pool?.close();
  pool = null;
  await folder.remove();
  if (readingProcesses().length > 0) throw new Error('reading processes were left behind');
});

function open(options: Partial<ReadingPoolOptions> = {}): ReadingPool {
  pool = createReadingPool({
    processes: 2,
    timeoutMs: 500,
    memoryMb: 192,
    maxLoad: 8,
    niceness: 0,
    program: PROGRAM,
    logger: silentLogger,
    ...options,
  });
  return pool;
}

/** The result of reading a message, or the reason why there is none. */
async function read(reader: ReadingPool, text: string, asker = MAIL): Promise<unknown> {
  const raw = { kind: 'bytes', bytes: Buffer.from(text) } as const;
  const result = await reader.read('message', { raw, context: {} }, asker);
  return result.kind === 'read' ? result.value : result.reason;
}

/** The reading processes of this process. */
function readingProcesses(): readonly string[] {
  const path = `/proc/self/task/${process.pid}/children`;
  if (!existsSync(path)) return [];
  return readFileSync(path, 'utf8')
    .split(' ')
    .filter((pid) => pid !== '' && isReading(pid));
}

function isReading(pid: string): boolean {
  const file = `/proc/${pid}/cmdline`;
  return existsSync(file) && readFileSync(file, 'utf8').includes(PROGRAM);
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

describe('a message that is read', () => {
  it('gives the result of reading it, in any order of requests', async () => {
    const reader = open();
    const texts = Array.from({ length: 200 }, (_, index) => `message ${index}`);
    expect(await Promise.all(texts.map((text) => read(reader, text)))).toEqual(texts);
  });

  it('starts no process before the first', async () => {
    const reader = open();
    expect(readingProcesses()).toEqual([]);
    await read(reader, 'first');
    expect(readingProcesses()).toHaveLength(1);
  });
});

describe.each([
  ['never ends', 'LOOP', 'deadline'],
  ['never ends within one call of the engine', 'PATTERN', 'deadline'],
  ['takes memory, a little at a time', 'OBJECTS', 'memory'],
  ['takes memory in one ever larger piece', 'ARRAY', 'memory'],
  ['takes memory in a table', 'MAP', 'memory'],
  ['takes memory outside of the heap', 'BUFFERS', 'memory'],
  ['ends its process', 'EXIT', 'crash'],
  ['kills its process', 'KILL', 'crash'],
  ['aborts its process', 'ABORT', 'crash'],
  ['throws', 'THROW', 'crash'],
  ['goes too deep', 'RECURSE', 'crash'],
])('a message whose reading %s', (_, deed, reason) => {
  it('fails with the reason, and harms no other', async () => {
    // On a busy machine everything but the deadline takes more time.
    const reader = open({ timeoutMs: reason === 'deadline' ? 300 : 20_000 });
    const others = (from: number) =>
      Array.from({ length: 20 }, (_, index) => read(reader, `message ${from + index}`));
    const before = others(0);
    const poison = read(reader, deed);
    const behind = others(20);
    expect(await poison).toBe(reason);
    expect(await Promise.all([...before, ...behind])).toEqual(
      Array.from({ length: 40 }, (_, index) => `message ${index}`),
    );
  });

  it('is read at most twice', async () => {
    const reader = open({ timeoutMs: reason === 'deadline' ? 300 : 20_000 });
    const path = join(folder.path, randomUUID());
    expect(await read(reader, `${deed}\n${path}`)).toBe(reason);
    const tries = readFileSync(path, 'utf8').trim().split('\n');
    // Only a death that nothing explains may have another cause than the mail.
    expect(tries).toEqual(['EXIT', 'KILL', 'ABORT'].includes(deed) ? [deed, deed] : [deed]);
  });
});

it('reads other messages while as many messages as there are processes never end', async () => {
  const reader = open({ timeoutMs: 60_000 });
  const poison = [read(reader, 'LOOP'), read(reader, 'LOOP')];
  const others = Array.from({ length: 50 }, (_, index) => read(reader, `message ${index}`));
  const first = await Promise.race([Promise.all(others), ...poison]);
  expect(first).toEqual(Array.from({ length: 50 }, (_, index) => `message ${index}`));
  await pool?.close();
  await expect(Promise.all(poison)).rejects.toMatchObject({ code: 'shutting_down' });
});

it('answers other askers, and mail, while one asks what never ends on every connection', async () => {
  const reader = open({ timeoutMs: 60_000, maxLoad: 1 });
  const poison = Array.from({ length: 16 }, () => read(reader, 'LOOP', 'attacker'));
  const others = Array.from({ length: 20 }, (_, index) =>
    read(reader, `message ${index}`, index % 2 === 0 ? 'other' : MAIL),
  );
  const first = await Promise.race([Promise.all(others), ...poison]);
  expect(first).toEqual(Array.from({ length: 20 }, (_, index) => `message ${index}`));
  await pool?.close();
  await expect(Promise.all(poison)).rejects.toMatchObject({ code: 'shutting_down' });
});

it('lets askers take turns: one who comes late waits for one question, not for all that another one asked before', async () => {
  const reader = open({ processes: 1, maxLoad: 1 });
  await read(reader, 'first');
  const order: string[] = [];
  const note = async (asker: string) => {
    await read(reader, 'text', asker);
    order.push(asker);
  };
  const many = Array.from({ length: 100 }, () => note('busy'));
  await Promise.all([...many, note('late')]);
  expect(order.indexOf('late')).toBeLessThan(3);
});

it('refuses an asker that has very many questions waiting, and no other', async () => {
  const reader = open({ timeoutMs: 60_000 });
  const asked = Array.from({ length: MAX_WAITING + 10 }, () => read(reader, 'LOOP', 'attacker'));
  const settled = Promise.allSettled(asked);
  expect(await read(reader, 'fine', 'other')).toBe('fine');
  expect(await read(reader, 'fine')).toBe('fine');
  await pool?.close();
  const reasons = (await settled).map((one): unknown => (one.status === 'rejected' ? one.reason : null));
  expect(reasons).toEqual([
    ...Array.from(
      { length: MAX_WAITING },
      () => expect.objectContaining({ code: 'shutting_down' }) as unknown,
    ),
    ...Array.from(
      { length: 10 },
      () => expect.objectContaining({ code: 'rate_limited', retryAfterSeconds: 1 }) as unknown,
    ),
  ]);
});

it('answers each of many messages, poison among them, at once', async () => {
  const reader = open({ timeoutMs: 200, processes: 3 });
  const deeds = ['LOOP', 'ARRAY', 'EXIT', 'THROW', 'fine', 'fine', 'fine', 'fine'];
  const asked = Array.from({ length: 48 }, (_, index) => deeds[index % deeds.length] ?? '');
  const answers = await Promise.all(asked.map((text) => read(reader, text)));
  const expected: Record<string, RegExp> = {
    LOOP: /^deadline$/,
    // Whichever limit is passed first.
    ARRAY: /^(memory|deadline)$/,
    EXIT: /^crash$/,
    THROW: /^crash$/,
    fine: /^fine$/,
  };
  for (const [index, text] of asked.entries()) expect(answers[index]).toMatch(expected[text] ?? /never/);
});

it('keeps its processes, and fails no message, where the machine has no time for them', async () => {
  const reader = open({ processes: 2, timeoutMs: 200 });
  await Promise.all([read(reader, 'first'), read(reader, 'WAIT'), read(reader, 'WAIT')]);
  const before = readingProcesses();
  const asked = Array.from({ length: 12 }, () => read(reader, 'WAIT'));
  expect(new Set(await Promise.all(asked))).toEqual(new Set(['waited']));
  expect(readingProcesses()).toEqual(expect.arrayContaining([...before]));
  expect(readingProcesses().length).toBeLessThanOrEqual(2);
});

it('goes on after its processes were killed from outside, and blames no message for it', async () => {
  const reader = open();
  await read(reader, 'first');
  const [pid] = readingProcesses();
  process.kill(Number(pid), 'SIGKILL');
  expect(await read(reader, 'second')).toBe('second');
});

it('is not ended by the signals that a terminal or a supervisor sends to the whole group', async () => {
  const reader = open();
  await read(reader, 'first');
  const before = readingProcesses();
  for (const pid of before) {
    process.kill(Number(pid), 'SIGINT');
    process.kill(Number(pid), 'SIGTERM');
  }
  expect(await read(reader, 'second')).toBe('second');
  expect(readingProcesses()).toEqual(before);
});

it('leaves no process behind when the asking process is killed', async () => {
  const asking = spawn(process.execPath, [ORPHANS], { stdio: ['ignore', 'pipe', 'ignore'] });
  const [line] = (await once(createInterface({ input: asking.stdout }), 'line')) as [string];
  const pids = line.split(' ').map(Number);
  expect(pids.map(isRunning)).toEqual([true, true, true]);
  asking.kill('SIGKILL');
  await waitUntil('all processes end, that which waits and those which loop', () => !pids.some(isRunning));
});

it('says that nothing can be read when no process can be started', async () => {
  const reader = open({ program: join(folder.path, 'nothing.js') });
  await expect(read(reader, 'first')).rejects.toMatchObject({ code: 'reading_unavailable' });
  await expect(read(reader, 'second')).rejects.toMatchObject({ code: 'reading_unavailable' });
});

it('gives its processes none of the settings of this one', async () => {
  const reader = open();
  await read(reader, 'first');
  const [pid = ''] = readingProcesses();
  const environment = existsSync('/proc') ? readFileSync(`/proc/${pid}/environ`, 'utf8') : '';
  expect(environment).not.toContain('PATH');
});

it('refuses messages after it was closed', async () => {
  const reader = open();
  await reader.close();
  await expect(read(reader, 'late')).rejects.toMatchObject({ code: 'shutting_down' });
});
