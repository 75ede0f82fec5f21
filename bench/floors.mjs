/**
 * Measures the figures that the goals of sending and accepting set, beside programs that do less than the service: a figure out of reach
 * for these is out of reach for any service with the same parts. Node.js, Fastify, nodemailer, `pg`, PostgreSQL with fsync, all on the same
 * machine.
 */
import { cpuOf, databaseCpu } from './cpu.mjs';
import { startNodemailer, startPlainSender, startService, startSink } from './processes.mjs';
import { median, ROUNDS, SECONDS, spread } from './results.mjs';
import { post } from './workload.mjs';

const sink = await startSink();
const service = await startService({
  SMTP_URL: `smtp://127.0.0.1:${sink.port}?max_messages_per_connection=1000000`,
});
const plain = (does) => startPlainSender(service.dataDir, sink.port, does);
const sides = {
  'nodemailer alone': await startNodemailer(sink.port),
  'Fastify and nodemailer, records nothing': await plain('forward'),
  "a user's program: the same, and one insert": await plain('record'),
  'the same, and a journal on the disk before it sends': await plain('journal'),
  'the service: direct': service,
  'Fastify and one insert, sends nothing': await plain('accept'),
  'the service: accepting, while it drains': { ...service, headers: { prefer: 'respond-async' } },
};
const run = ({ send, url, headers }, seconds) => send?.(seconds) ?? post(url, seconds, headers);
const cpu = ({ pid }) => [cpuOf(pid), databaseCpu(service.dataDir), cpuOf(sink.pid)];
const results = Object.fromEntries(Object.keys(sides).map((name) => [name, { rates: [], cpu: [] }]));
try {
  for (const side of Object.values(sides)) await run(side, 1);
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const [name, side] of Object.entries(sides)) {
      const before = cpu(side);
      const began = performance.now();
      const count = await run(side, SECONDS);
      results[name].rates.push((count * 1000) / (performance.now() - began));
      const after = cpu(side);
      results[name].cpu.push(after.map((ms, index) => (ms - before[index]) / count));
      // Work that the service still has to finish must not count for the next program.
      await new Promise((resolve) => setTimeout(resolve, 1000 * SECONDS));
    }
  }
} finally {
  for (const side of new Set(Object.values(sides))) if (side.headers === undefined) await side.stop();
  await sink.stop();
}
const rate = (name) => median(results[name].rates);
for (const [name, { rates, cpu: costs }] of Object.entries(results)) {
  const part = (index) => median(costs.map((cost) => cost[index])).toFixed(2);
  console.log(
    `${name.padEnd(52)} ${spread(rates, 0).padStart(22)}/s  CPU ms: program ${part(0)}, PostgreSQL ${part(1)}, mail server ${part(2)}`,
  );
}
for (const [name, beside, goal] of [
  ['Fastify and nodemailer, records nothing', 'nodemailer alone', 0.9],
  ['Fastify and nodemailer, records nothing', "a user's program: the same, and one insert", 1.3],
  ['the service: direct', 'the same, and a journal on the disk before it sends', null],
  ['Fastify and one insert, sends nothing', 'the service: direct', 2],
]) {
  const ratio = (rate(name) / rate(beside)).toFixed(2);
  console.log(`${ratio}  ${name} / ${beside}${goal === null ? '' : ` (the goal for the service: ${goal})`}`);
}
