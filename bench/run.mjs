/**
 * Measures the service, each figure against a baseline in the same run. Rounds of both sides alternate, so that other
 * load on the machine affects both; the ratio is that of the medians.
 */
import autocannon from 'autocannon';
import { cpus } from 'node:os';
import { SECRET, startBareReader, startService, startSink } from './processes.mjs';
import { printSends } from './sends.mjs';
import { CONCURRENCY, mail } from './workload.mjs';

const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 5);
const SECONDS = Number(process.env.BENCH_SECONDS ?? 5);
const headers = { authorization: `Bearer ${SECRET}`, 'content-type': 'application/json' };

const median = (values) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)];

async function compare(name, goal, baseline, ours) {
  const rates = { baseline: [], ours: [] };
  for (let round = 0; round < ROUNDS; round += 1) {
    rates.baseline.push(await baseline());
    rates.ours.push(await ours());
  }
  const [theirs, mine] = [median(rates.baseline), median(rates.ours)];
  const list = (values) => values.map((value) => value.toFixed(0)).join(' ');
  console.log(`${name}`);
  console.log(`  baseline ${theirs.toFixed(0)}/s (${list(rates.baseline)})`);
  console.log(`  service  ${mine.toFixed(0)}/s (${list(rates.ours)})`);
  console.log(`  ratio    ${(mine / theirs).toFixed(2)} (goal ${goal})`);
}

async function load(options) {
  const result = await autocannon({ connections: CONCURRENCY, duration: SECONDS, headers, ...options });
  if (result.non2xx > 0 || result.errors > 0)
    throw new Error(`${result.non2xx} refused, ${result.errors} broken`);
  return result['2xx'] / result.duration;
}

async function post(url, body) {
  const response = await fetch(`${url}/api/send`, { method: 'POST', headers, body: JSON.stringify(body) });
  if (response.status !== 200) throw new Error(`send: ${response.status} ${await response.text()}`);
  return response.json();
}

console.log(
  `${cpus().length} cores (${cpus()[0].model}), Node.js ${process.version}, ${ROUNDS} rounds of ${SECONDS} s`,
);
const sink = await startSink();
const service = await startService({
  SMTP_URL: `smtp://127.0.0.1:${sink.port}?max_messages_per_connection=1000000`,
});
try {
  const { threadId } = await post(service.url, mail);
  for (let index = 0; index < 4; index += 1) await post(service.url, { ...mail, thread_id: threadId });
  const bare = await startBareReader(service.dataDir);
  const read = (url) => load({ url: `${url}/api/thread/${threadId}` });
  const [a, b] = await Promise.all(
    [bare.url, service.url].map(async (url) =>
      (await fetch(`${url}/api/thread/${threadId}`, { headers })).json(),
    ),
  );
  if (JSON.stringify(a) !== JSON.stringify(b)) throw new Error('the two readers do not give the same answer');
  await compare(
    'Reading a thread of 5 emails over HTTP, against bare Fastify with pg and one prepared query',
    '1.0',
    () => read(bare.url),
    () => read(service.url),
  );
  await bare.stop();
} finally {
  await service.stop();
  await sink.stop();
}

await printSends(ROUNDS, SECONDS);
