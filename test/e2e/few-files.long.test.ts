/** Too few file descriptors, as under a low `ulimit -n`: work that needs one fails, and the service goes on. */
import { execFileSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { expect, it } from 'vitest';
import { processesOf } from '../helpers/processes-of.ts';
import { startServiceProcess } from '../helpers/service-process.ts';
import { skipWithout } from '../helpers/skip.ts';
import { waitUntil } from '../helpers/wait-until.ts';

/** Files that the service may still open once it is ready. */
const SPARE_FILES = 12;
const CONNECTIONS = 200;
/** Enough for some looks of the watch over the database server, which looks four times a second. */
const LOOKS_MS = 1_500;

it.skipIf(skipWithout('too few file descriptors', '/usr/bin/prlimit'))(
  'survives more connections than it may have files, answers again afterwards, and stops in order',
  async () => {
    const service = await startServiceProcess();
    const child = service.process;
    const sockets: Socket[] = [];
    try {
      const { pid } = child;
      const open = readdirSync(`/proc/${pid}/fd`).length;
      // Limited only now, because Node.js needs more files to load the program than the service needs later.
      execFileSync('/usr/bin/prlimit', [`--pid=${pid}`, `--nofile=${open + SPARE_FILES}`]);
      const url = new URL(service.url);
      for (let count = 0; count < CONNECTIONS; count += 1) {
        const socket = connect(Number(url.port), url.hostname);
        // Connections for which the service has no file left are cut.
        socket.on('error', () => undefined);
        sockets.push(socket);
      }
      const begun = performance.now();
      await waitUntil(
        'the shortage has lasted for some looks',
        () => performance.now() - begun > LOOKS_MS || child.exitCode !== null,
      );
      expect(child.exitCode).toBeNull();
      for (const socket of sockets) socket.destroy();
      await waitUntil('it answers again', () =>
        service.request('/api/health/ready').then(
          (response) => response.status === 200,
          () => false,
        ),
      );
      const mail = { to: 'ada@example.org', subject: 'Hallo', text_body: 'Guten Tag' };
      expect((await service.request('/api/send', { json: mail })).status).toBe(200);
      expect(await service.stop()).toBe(0);
      expect(service.log.join('\n')).toContain('email-worker has stopped');
      expect(service.log.join('\n')).not.toContain('the embedded PostgreSQL ended');
      expect(processesOf(service.dataDir)).toEqual([]);
    } finally {
      for (const socket of sockets) socket.destroy();
      await service.kill();
      for (const line of processesOf(service.dataDir)) process.kill(Number.parseInt(line, 10), 'SIGKILL');
      await rm(service.dataDir, { recursive: true, force: true, maxRetries: 5 });
    }
  },
);
