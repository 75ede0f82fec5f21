/** `npm start`, as a supervisor runs it: the supervisor knows the process of npm, and signals only that one. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { waitUntil } from '../helpers/wait-until.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

it('stops in order when npm gets SIGTERM, and leaves no process behind', async () => {
  const dataDir = await mkdtemp(path.join(tmpdir(), 'email-worker-npm-'));
  const npm = spawn('npm', ['start'], {
    cwd: ROOT,
    env: { PATH: process.env['PATH'] ?? '', HOME: dataDir, PORT: '0', DATA_DIR: path.join(dataDir, 'data') },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [npm.stdout, npm.stderr]) {
    stream.on('data', (chunk: Buffer) => (output += chunk.toString()));
  }
  const closed = once(npm, 'close');
  try {
    await waitUntil('the service is ready', () => output.includes('is ready"}') && output.includes('"url"'));
    const url = /"url":"([^"]+)"/.exec(output)![1]!;
    expect((await fetch(`${url}/api/health`)).status).toBe(200);
    npm.kill('SIGTERM');
    // Not until the service itself has closed its output.
    await closed;
    expect(output).toContain('email-worker is stopping');
    await expect(fetch(`${url}/api/health`)).rejects.toThrow('fetch failed');
  } finally {
    npm.kill('SIGKILL');
    await rm(dataDir, { recursive: true, force: true });
  }
});
