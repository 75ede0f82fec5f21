/**
 * Measures the cost of reads with and without a replica: CPU time of the service, the primary and the replica for one read with many at
 * once, and the duration of a single one. A second caller sends meanwhile, so that the replica always has something to catch up with.
 *
 * BENCH_DATABASE_URL names an empty database of a local server, with a role that may see data_directory, and BENCH_READ_URL the same
 * database on its streaming replica.
 */
import autocannon from 'autocannon';
import { cpuOf, cpuOfTree, postmasterAt } from './cpu.mjs';
import { SECRET, startService, startSink } from './processes.mjs';
import { median, ROUNDS, SECONDS } from './results.mjs';
import { CONCURRENCY, mail } from './workload.mjs';

const { BENCH_DATABASE_URL: primary, BENCH_READ_URL: replica } = process.env;
const CUSTOMER = '0198f000-0000-7000-8000-000000000001';
const SENT = 500;
const headers = { authorization: `Bearer ${SECRET}`, 'content-type': 'application/json' };

const [primaryPid, replicaPid] = await Promise.all([primary, replica].map(postmasterAt));
const sink = await startSink();
const services = [];
try {
  const env = { SMTP_URL: `smtp://127.0.0.1:${sink.port}`, DATABASE_URL: primary };
  services.push({ way: 'primary alone', service: await startService(env) });
  services.push({
    way: 'with a replica',
    service: await startService({ ...env, DATABASE_READ_URL: replica }),
  });
  const [{ service: first }] = services;
  const send = async (fields) => {
    const body = JSON.stringify({ ...mail, customer_id: CUSTOMER, ...fields });
    return await (await fetch(`${first.url}/api/send`, { method: 'POST', headers, body })).json();
  };
  let threadId;
  for (let count = 0; count < SENT; count += 1) ({ threadId } = await send({}));
  const WORK = {
    thread: `/api/thread/${threadId}`,
    'list of threads': '/api/threads',
    "a customer's emails": `/api/customer/${CUSTOMER}/emails`,
  };

  async function sendUntil(signal) {
    let count = 0;
    while (!signal.aborted) {
      await send({});
      count += 1;
    }
    return count;
  }

  async function measure({ service }, target, connections) {
    const cpu = () => [cpuOf(service.pid), cpuOfTree(primaryPid), cpuOfTree(replicaPid)];
    const before = cpu();
    const result = await autocannon({
      url: service.url + target,
      connections,
      duration: SECONDS,
      headers,
    });
    if (result.non2xx > 0 || result.errors > 0)
      throw new Error(`${result.non2xx} refused, ${result.errors} broken`);
    return [...cpu().map((ms, index) => (ms - before[index]) / result['2xx']), result.latency.average];
  }

  for (const isWriting of [false, true]) {
    const over = new AbortController();
    const writing = isWriting ? sendUntil(over.signal) : Promise.resolve(0);
    for (const [name, target] of Object.entries(WORK)) {
      for (const connections of [1, CONCURRENCY]) {
        const rounds = new Map(services.map(({ way }) => [way, []]));
        for (let round = 0; round < ROUNDS; round += 1) {
          for (const one of services) rounds.get(one.way).push(await measure(one, target, connections));
        }
        for (const [way, values] of rounds) {
          const [service, own, other, latency] = [0, 1, 2, 3].map((index) =>
            median(values.map((one) => one[index])),
          );
          console.log(
            `${name}, ${connections} at once, ${isWriting ? 'while sends go on' : 'at rest'}, ${way}: ` +
              `service ${service.toFixed(3)}, primary ${own.toFixed(3)}, replica ${other.toFixed(3)} ms CPU; ` +
              `${latency.toFixed(2)} ms`,
          );
        }
      }
    }
    over.abort();
    console.log(`${await writing} sends meanwhile`);
  }
} finally {
  for (const { service } of services) await service.stop();
  await sink.stop();
}
