/**
 * The end of the service as people and supervisors request it: Ctrl-C in a terminal, which reaches npm and the service together, and npm
 * passes it on; a signal to a whole process group; and a second signal from a caller that can't wait.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type GatedSink, startGatedSink } from '../helpers/gated-sink.ts';
import { processesOf } from '../helpers/processes-of.ts';
import { TEST_SECRET } from '../helpers/service-process.ts';
import { skipWithout } from '../helpers/skip.ts';
import { waitUntil } from '../helpers/wait-until.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const WAYS = [
  ['node', 'node dist/bundle/main.js'],
  ['npm start', 'npm start'],
  ['npx', 'npx --no email-worker'],
] as const;
const PATIENCE_MS = 60_000;
const TEST_TIMEOUT_MS = 180_000;

/** One folder for all tests: each end leaves a database with which the next service starts. */
let folder: string;
let sink: GatedSink;
let service: Running;

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'email-worker-ctrl-c-'));
});
afterAll(() => rm(folder, { recursive: true, force: true, maxRetries: 5 }));
beforeEach(async () => {
  sink = await startGatedSink();
  sink.close();
});
afterEach(async () => {
  service.child.kill('SIGKILL');
  for (const line of processesOf(folder)) killNow(Number.parseInt(line, 10));
  await sink.stop();
});

interface Running {
  readonly child: ChildProcess;
  readonly closed: Promise<unknown>;
  /** All output so far. */
  output(): string;
  url(): string;
}

async function start(file: string, args: readonly string[]): Promise<Running> {
  const child = spawn(file, args, {
    cwd: ROOT,
    detached: true,
    env: {
      PATH: process.env['PATH'] ?? '',
      HOME: folder,
      TERM: 'dumb',
      PORT: '0',
      API_SECRET: TEST_SECRET,
      DATA_DIR: path.join(folder, 'data'),
      SMTP_URL: sink.url,
    },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => (output += chunk.toString()));
  const running: Running = {
    child,
    closed: once(child, 'close'),
    output: () => output,
    url: () => /"url":"([^"]+)"/.exec(output)?.[1] ?? '',
  };
  service = running;
  await waitUntil('the service is ready', () => output.includes('email-worker is listening'), PATIENCE_MS);
  return running;
}

/** Resolves when the mail server has begun the hand-over and holds it back; the status comes later. */
async function beginSend(): Promise<{ readonly status: Promise<number> }> {
  const status = fetch(`${service.url()}/api/send`, {
    method: 'POST',
    headers: { authorization: `Bearer ${TEST_SECRET}`, 'content-type': 'application/json' },
    body: JSON.stringify({ to: 'ada@example.org', subject: randomUUID(), text_body: 'Guten Tag' }),
  }).then((response) => response.status);
  await sink.reached();
  return { status };
}

/** Every ordered end leaves an answer, a log that says so, and no process. */
async function expectOrderedEnd(status: Promise<number>): Promise<void> {
  await waitUntil('the stop has begun', () => service.output().includes('is stopping'), PATIENCE_MS);
  sink.open();
  expect(await status).toBe(200);
  await service.closed;
  expect(service.output()).toContain('email-worker has stopped');
  await waitUntil('no process is left', () => processesOf(folder).length === 0, PATIENCE_MS);
}

function killNow(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // The process ended by itself.
  }
}

describe.skipIf(process.platform !== 'linux')('the service', () => {
  // util-linux's script gives a command a terminal of its own.
  it.skipIf(skipWithout('Ctrl-C in a terminal', '/usr/bin/script')).each(WAYS)(
    'started by %s ends in order on Ctrl-C in a terminal',
    async (_name, command) => {
      await start('/usr/bin/script', ['--quiet', '--flush', '--return', '--command', command, '/dev/null']);
      const { status } = await beginSend();
      service.child.stdin?.write('\u0003');
      await expectOrderedEnd(status);
    },
    TEST_TIMEOUT_MS,
  );

  it.each(
    WAYS.flatMap(([name, command]) =>
      (['SIGINT', 'SIGTERM'] as const).map((signal) => [name, signal, command] as const),
    ),
  )(
    'started by %s ends in order on %s to its whole process group',
    async (_name, signal, command) => {
      const [file, ...args] = command.split(' ');
      await start(file!, args);
      const { status } = await beginSend();
      process.kill(-service.child.pid!, signal);
      await expectOrderedEnd(status);
    },
    TEST_TIMEOUT_MS,
  );

  it(
    'ends in order when its terminal is closed',
    async () => {
      await start('node', ['dist/bundle/main.js']);
      const { status } = await beginSend();
      service.child.kill('SIGHUP');
      await expectOrderedEnd(status);
    },
    TEST_TIMEOUT_MS,
  );

  it(
    'ends at once when it is asked again some seconds later, and takes its database server along',
    async () => {
      await start('node', ['dist/bundle/main.js']);
      const { status } = await beginSend();
      const told = status.then(String, String);
      service.child.kill('SIGINT');
      const signals = setInterval(() => service.child.kill('SIGINT'), 500);
      const [code] = (await service.closed) as [number | null];
      clearInterval(signals);
      expect(await told).toContain('fetch failed');
      expect(code).toBe(1);
      expect(service.output()).toContain('ends at once');
      expect(service.output()).not.toContain('has stopped');
      await waitUntil('no process is left', () => processesOf(folder).length === 0, PATIENCE_MS);
    },
    TEST_TIMEOUT_MS,
  );
});
