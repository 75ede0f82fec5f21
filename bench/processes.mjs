/** The processes of a measurement: each part runs in its own process, as it would in use. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const here = (file) => fileURLToPath(new URL(file, import.meta.url));

export const SECRET = 'bench-secret-of-32-characters-12';

/** Starts a program and waits for the line that matches `ready`; returns its first group. */
async function start(file, args, env, ready, cwd) {
  const child = spawn(process.execPath, [file, ...args], {
    env: { PATH: process.env.PATH, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
    cwd,
  });
  const lines = createInterface({ input: child.stdout });
  const exited = once(child, 'exit');
  const match = await Promise.race([
    (async () => {
      for await (const line of lines) {
        const found = ready.exec(line);
        if (found) return found[1];
      }
      throw new Error(`${file} ended before it was ready`);
    })(),
    exited.then(([code]) => {
      throw new Error(`${file} ended with ${code}`);
    }),
  ]);
  child.stdout.resume();
  return {
    value: match,
    pid: child.pid,
    async stop() {
      child.kill('SIGTERM');
      await exited;
    },
  };
}

/** An SMTP server that takes and counts everything. */
export async function startSink() {
  const { value, pid, stop } = await start(here('sink.mjs'), [], {}, /^port (\d+)/);
  return { port: Number(value), pid, stop };
}

/** The service with an embedded database in a fresh folder. */
export async function startService(env = {}) {
  const dataDir = mkdtempSync(path.join(tmpdir(), 'email-worker-bench-'));
  const service = await startServiceIn(dataDir, env);
  return {
    ...service,
    async stop() {
      await service.stop();
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}

/** The service with a data folder that is kept, and with an embedded database in it unless `env` names another. */
export async function startServiceIn(dataDir, env = {}) {
  const { value, pid, stop } = await start(
    here('../dist/bundle/main.js'),
    [],
    { PORT: '0', DATA_DIR: dataDir, API_SECRET: SECRET, LOG_LEVEL: 'info', ...env },
    /"url":"([^"]+)".*is ready/,
    dataDir,
  );
  return { url: value, pid, dataDir, stop };
}

/** Bare Fastify with `pg` and one prepared query, on the same database. */
export async function startBareReader(dataDir) {
  const { value, pid, stop } = await start(here('bare-reader.mjs'), [dataDir], {}, /^url (\S+)/);
  return { url: value, pid, stop };
}

/** The program that a user would write to send, on the same database and into the same mail server. @param does see plain-sender.mjs */
export async function startPlainSender(dataDir, port, does = 'record') {
  const args = [dataDir, String(port), does];
  const { value, pid, stop } = await start(here('plain-sender.mjs'), args, {}, /^url (\S+)/);
  return { url: value, pid, stop };
}

/** Nodemailer alone; sends for as long as `send` says. */
export async function startNodemailer(port) {
  const child = spawn(process.execPath, [here('nodemailer-sender.mjs'), String(port)], {
    env: { PATH: process.env.PATH },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return {
    pid: child.pid,
    /** Returns the number of messages. */
    async send(seconds) {
      child.stdin.write(`${seconds}\n`);
      return Number((await lines.next()).value);
    },
    async stop() {
      const exited = once(child, 'exit');
      child.stdin.end();
      await exited;
    },
  };
}
