/**
 * Measures 20 sends of 25 MB at once: sends per second, against decoding the same JSON and writing its file to the disk, one after the
 * other; and the service's memory above that of the idle process. `BENCH_ROUNDS` sets the number of rounds (3).
 */
import { randomBytes } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { cpuOf, serviceCpu } from './cpu.mjs';
import { SECRET, startService, startSink } from './processes.mjs';
import { median, record, spread } from './results.mjs';

const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 3);
const FILE_BYTES = Number(process.env.BENCH_FILE_BYTES ?? 25 * 1024 * 1024);
const AT_ONCE = 20;
const LOOK_MS = 20;
const MIB = 1024 * 1024;

const content = randomBytes(FILE_BYTES).toString('base64');
const body = Buffer.from(
  JSON.stringify({
    to: 'ada@example.org',
    subject: 'Pläne',
    text_body: 'Anbei die Pläne.',
    attachments: [{ filename: 'plan.bin', content_type: 'application/octet-stream', content }],
  }),
);
const folder = mkdtempSync(path.join(tmpdir(), 'email-worker-bench-'));

/** The least work of a program that keeps the file of a request. */
async function decodeAndWrite() {
  for (let index = 0; index < AT_ONCE; index += 1) {
    const [attachment] = JSON.parse(body.toString()).attachments;
    const file = await open(path.join(folder, `file-${index}`), 'w');
    await file.write(Buffer.from(attachment.content, 'base64'));
    await file.sync();
    await file.close();
  }
}

const memoryOf = (pid) =>
  Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))[1]) / 1024;

async function timed(work) {
  const began = performance.now();
  await work();
  return AT_ONCE / ((performance.now() - began) / 1000);
}

const sink = await startSink();
const service = await startService({ SMTP_URL: `smtp://127.0.0.1:${sink.port}` });
const headers = { authorization: `Bearer ${SECRET}`, 'content-type': 'application/json' };

async function send() {
  const answer = await fetch(`${service.url}/api/send`, { method: 'POST', headers, body });
  if (answer.status !== 200) throw new Error(`${answer.status}: ${await answer.text()}`);
}

const theirs = [];
const ours = [];
const memory = [];
const costs = { theirs: [], node: [], database: [], server: [] };
try {
  await send();
  await new Promise((resolve) => setTimeout(resolve, 3000));
  for (let round = 0; round < ROUNDS; round += 1) {
    const ownBefore = cpuOf(process.pid);
    theirs.push(await timed(decodeAndWrite));
    costs.theirs.push((cpuOf(process.pid) - ownBefore) / AT_ONCE);
    const idle = memoryOf(service.pid);
    let most = idle;
    const looks = setInterval(() => (most = Math.max(most, memoryOf(service.pid))), LOOK_MS);
    const before = { ...serviceCpu(service), server: cpuOf(sink.pid) };
    ours.push(await timed(() => Promise.all(Array.from({ length: AT_ONCE }, send))));
    const after = { ...serviceCpu(service), server: cpuOf(sink.pid) };
    for (const part of ['node', 'database', 'server'])
      costs[part].push((after[part] - before[part]) / AT_ONCE);
    clearInterval(looks);
    memory.push(most - idle);
  }
} finally {
  await service.stop();
  await sink.stop();
  rmSync(folder, { recursive: true, force: true });
}
console.log(
  `20 sends of ${(FILE_BYTES / MIB).toFixed(0)} MiB at once: ${spread(memory, 0)} MiB above the idle process`,
);
record({
  part: 'large',
  what: '20 sends of 25 MB at once',
  baseline: 'decoding the same JSON and writing the file, one after the other',
  theirs,
  ours,
  goal: 0.5,
  cpu: {
    theirs: { 'Node.js': median(costs.theirs) },
    ours: {
      'Node.js': median(costs.node),
      PostgreSQL: median(costs.database),
      'mail server': median(costs.server),
    },
  },
});
