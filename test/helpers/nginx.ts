/** A real nginx in front of a port, as operators run one. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import path from 'node:path';
import { findFreePort } from './free-port.ts';
import { skipWithout } from './skip.ts';
import { makeTempFolder } from './temp-folder.ts';
import { waitUntil } from './wait-until.ts';

const PROGRAM = '/usr/sbin/nginx';

export interface Nginx {
  readonly port: number;
  stop(): Promise<void>;
}

/** For `describe.skipIf`; see skip.ts. */
export const skipWithoutNginx = (): boolean => skipWithout('tests behind nginx', PROGRAM);

/** For one upstream port. */
export const startNginx = (upstreamPort: number): Promise<Nginx> =>
  startNginxWith(
    (port) => `
      server {
        listen 127.0.0.1:${port};
        location / {
          proxy_pass http://127.0.0.1:${upstreamPort};
          proxy_http_version 1.1;
          proxy_set_header Host $host;
          proxy_set_header X-Request-Id $request_id;
          proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;
        }
      }`,
  );

/** @param site contents of the `http` block, for the port to listen on */
export async function startNginxWith(site: (port: number) => string): Promise<Nginx> {
  const folder = await makeTempFolder();
  const port = await findFreePort();
  const kinds = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];
  for (const kind of kinds) await mkdir(path.join(folder.path, kind));
  const isRoot = process.getuid?.() === 0;
  await writeFile(
    path.join(folder.path, 'nginx.conf'),
    `daemon off; worker_processes 1; pid nginx.pid; error_log stderr; ${isRoot ? 'user root;' : ''}
     events {}
     http {
       access_log off;
       ${kinds.map((kind) => `${kind}_temp_path ${kind};`).join(' ')}
       ${site(port)}
     }`,
  );
  const child = spawn(PROGRAM, ['-p', folder.path, '-e', 'stderr', '-c', 'nginx.conf'], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const exited = once(child, 'exit');
  const said: string[] = [];
  child.stderr.on('data', (chunk: Buffer) => said.push(chunk.toString()));
  await waitUntil('nginx listens', async () => {
    if (child.exitCode !== null) throw new Error(`nginx ended: ${said.join('')}`);
    return await isOpen(port);
  });
  return {
    port,
    async stop() {
      child.kill('SIGTERM');
      await exited;
      await folder.remove();
    },
  };
}

async function isOpen(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1');
  try {
    await once(socket, 'connect');
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}
