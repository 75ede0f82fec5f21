/**
 * Measures the cost of a pooler in transaction mode: CPU time of the service, of PostgreSQL and of the pooler for one send and for one read
 * of a thread, with sessions of its own, with shared sessions but no pooler, and through the pooler. Each round has all three.
 *
 * BENCH_DATABASE_URL names an empty database of a local server, with a role that may see data_directory; BENCH_POOLER_URL names the same
 * database through the pooler, and BENCH_POOLER_PID the pooler's process.
 */
import autocannon from 'autocannon';
import { cpuOf, cpuOfTree, postmasterAt } from './cpu.mjs';
import { SECRET, startService, startSink } from './processes.mjs';
import { median, ROUNDS, SECONDS } from './results.mjs';
import { CONCURRENCY, mail } from './workload.mjs';

const { BENCH_DATABASE_URL: direct, BENCH_POOLER_URL: pooled, BENCH_POOLER_PID: poolerPid } = process.env;
const WAYS = {
  'sessions of its own': { DATABASE_URL: direct },
  'shared sessions, no pooler': { DATABASE_URL: direct, DATABASE_POOLER: 'transaction' },
  'through the pooler': { DATABASE_URL: pooled },
};
const headers = { authorization: `Bearer ${SECRET}`, 'content-type': 'application/json' };

const postmaster = await postmasterAt(direct);
const sink = await startSink();
const services = [];
try {
  for (const [way, env] of Object.entries(WAYS)) {
    services.push({
      way,
      service: await startService({ SMTP_URL: `smtp://127.0.0.1:${sink.port}`, ...env }),
    });
  }
  const [{ service: first }] = services;
  const sent = await fetch(`${first.url}/api/send`, { method: 'POST', headers, body: JSON.stringify(mail) });
  const { threadId } = await sent.json();
  const WORK = {
    send: { path: '/api/send', method: 'POST', body: JSON.stringify(mail) },
    read: { path: `/api/thread/${threadId}`, method: 'GET' },
  };

  async function measure({ service }, { path: target, ...request }, seconds) {
    const cpu = () => [cpuOf(service.pid), cpuOfTree(postmaster), cpuOf(Number(poolerPid))];
    const before = cpu();
    const result = await autocannon({
      url: service.url + target,
      ...request,
      connections: CONCURRENCY,
      duration: seconds,
      headers,
    });
    if (result.non2xx > 0 || result.errors > 0)
      throw new Error(`${result.non2xx} refused, ${result.errors} broken`);
    return cpu().map((ms, index) => (ms - before[index]) / result['2xx']);
  }

  for (const [name, work] of Object.entries(WORK)) {
    const rounds = new Map(services.map(({ way }) => [way, []]));
    for (const one of services) await measure(one, work, 1);
    for (let round = 0; round < ROUNDS; round += 1) {
      for (const one of services) rounds.get(one.way).push(await measure(one, work, SECONDS));
    }
    for (const [way, values] of rounds) {
      const parts = ['service', 'PostgreSQL', 'pooler'].map((part, index) => [
        part,
        median(values.map((one) => one[index])),
      ]);
      console.log(
        `${name}, ${way}: ${parts.map(([part, ms]) => `${part} ${ms.toFixed(3)}`).join(', ')} ms CPU each`,
      );
    }
  }
} finally {
  for (const { service } of services) await service.stop();
  await sink.stop();
}
