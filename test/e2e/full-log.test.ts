/** A log that can't be written, such as one on a full disk: the service does its work and ends in order without it. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { findFreePort } from '../helpers/free-port.ts';
import { processesOf } from '../helpers/processes-of.ts';
import { waitUntil } from '../helpers/wait-until.ts';

const MAIN = fileURLToPath(new URL('../../dist/bundle/main.js', import.meta.url));

it.skipIf(process.platform !== 'linux')(
  'starts, answers and stops in order while its log can not be written',
  async () => {
    const folder = await mkdtemp(path.join(tmpdir(), 'email-worker-log-'));
    const port = await findFreePort();
    // Every write to it fails with ENOSPC.
    const full = openSync('/dev/full', 'w');
    const child = spawn(process.execPath, [MAIN], {
      cwd: folder,
      env: { PATH: process.env['PATH'] ?? '', PORT: String(port), DATA_DIR: path.join(folder, 'data') },
      stdio: ['ignore', full, 'ignore'],
    });
    closeSync(full);
    const ended = once(child, 'exit');
    try {
      await waitUntil('it answers', () =>
        fetch(`http://127.0.0.1:${port}/api/health`).then(
          (response) => response.status === 200,
          () => false,
        ),
      );
      child.kill('SIGTERM');
      expect(await ended).toEqual([0, null]);
      expect(processesOf(folder)).toEqual([]);
    } finally {
      child.kill('SIGKILL');
      for (const line of processesOf(folder)) process.kill(Number.parseInt(line, 10), 'SIGKILL');
      await rm(folder, { recursive: true, force: true, maxRetries: 5 });
    }
  },
);
