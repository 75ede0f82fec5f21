/**
 * Measures sending 2 kB mails, 50 at once, against nodemailer alone and against the program that a user would write, all into the same mail
 * server, and queued sends against direct ones. Each round has all of them, and reports the CPU time of each process for one email.
 */
import pg from 'pg';
import { connectionOf } from './connection.mjs';
import { cpuOf, databaseCpu } from './cpu.mjs';
import { startNodemailer, startPlainSender, startService, startSink } from './processes.mjs';
import { median, medians, record, ROUNDS, SECONDS, spread } from './results.mjs';
import { post } from './workload.mjs';

const LOOK_MS = 20;

/** Name → sends per second, and CPU times in ms for one email, of each round. */
async function measureSends(rounds, seconds) {
  const sink = await startSink();
  const service = await startService({
    SMTP_URL: `smtp://127.0.0.1:${sink.port}?max_messages_per_connection=1000000`,
  });
  const plain = await startPlainSender(service.dataDir, sink.port);
  const alone = await startNodemailer(sink.port);
  const client = new pg.Client(connectionOf(service.dataDir));
  await client.connect();

  const isEmpty = async () => (await client.query('select from send_queue limit 1')).rowCount === 0;
  /** The work that a side leaves behind counts for that side: its search index and its events. */
  async function settled() {
    const left = 'select (select count(*) from search_queue) + (select count(*) from event_inbox) as n';
    do await new Promise((resolve) => setTimeout(resolve, 500));
    while (Number((await client.query(left)).rows[0].n) > 0);
  }
  const waiting = async () => Number((await client.query('select count(*) as n from send_queue')).rows[0].n);
  async function drained() {
    while (!(await isEmpty())) await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  }

  const cpu = (pid) => ({
    sender: cpuOf(pid),
    database: databaseCpu(service.dataDir),
    server: cpuOf(sink.pid),
  });
  /** `work` resolves with the number of emails. */
  async function measure(pid, work) {
    const before = cpu(pid);
    const began = performance.now();
    const count = await work();
    const took = (performance.now() - began) / 1000;
    const after = cpu(pid);
    const costs = Object.keys(before).map((part) => [part, (after[part] - before[part]) / count]);
    return { rate: count / took, ...Object.fromEntries(costs) };
  }

  const sides = {
    alone: () => measure(alone.pid, () => alone.send(seconds)),
    plain: () => measure(plain.pid, () => post(plain.url, seconds)),
    direct: () => measure(service.pid, () => post(service.url, seconds)),
    async queued() {
      let accepted;
      let left;
      let draining;
      const whole = await measure(service.pid, async () => {
        accepted = await measure(service.pid, () => post(service.url, seconds, { prefer: 'respond-async' }));
        left = await waiting();
        draining = await measure(service.pid, async () => {
          await drained();
          return left;
        });
        return accepted.rate * seconds;
      });
      return { ...whole, rate: accepted.rate, drained: draining };
    },
  };
  const results = Object.fromEntries(Object.keys(sides).map((name) => [name, []]));
  results.drained = [];
  try {
    // Warms up the code that is used.
    await alone.send(1);
    await post(plain.url, 1);
    await post(service.url, 2);
    for (let round = 0; round < rounds; round += 1) {
      for (const [name, side] of Object.entries(sides)) {
        const { drained: alsoDrained, ...result } = await side();
        results[name].push(result);
        if (alsoDrained !== undefined) results.drained.push(alsoDrained);
        await settled();
      }
    }
  } finally {
    await client.end();
    await alone.stop();
    await plain.stop();
    await service.stop();
    await sink.stop();
  }
  return results;
}

const TITLES = {
  alone: 'nodemailer alone, pooled',
  plain: 'what a user would write: Fastify, nodemailer, one insert',
  direct: 'direct sends of the service',
  queued: 'queued sends of the service',
  drained: '… of these, drained alone',
};

const results = await measureSends(ROUNDS, SECONDS);
const of = (name, key) => results[name].map((result) => result[key]);
const whole = (name) => results[name].map(({ sender, database }) => sender + database);
console.log('Sending 2 kB mails, 50 at once, into the same mail server; CPU time in ms for one email');
for (const [name, title] of Object.entries(TITLES)) {
  console.log(
    `  ${title.padEnd(26)} ${spread(of(name, 'rate'), 0)}/s, CPU ${spread(whole(name))}: sender ${median(of(name, 'sender')).toFixed(2)}, ` +
      `PostgreSQL ${median(of(name, 'database')).toFixed(2)}; mail server ${median(of(name, 'server')).toFixed(2)}`,
  );
}
const cpu = (name) =>
  medians(results[name], { sender: 'Node.js', database: 'PostgreSQL', server: 'mail server' });
for (const [name, what, baseline, goal] of [
  ['direct', 'sending 2 kB, beside nodemailer alone', 'alone', 0.9],
  ['direct', "sending 2 kB, beside a user's program", 'plain', 1.3],
  ['queued', 'accepting queued sends', 'direct', 2],
  ['drained', 'sending what is queued', 'direct', 0.9],
]) {
  record({
    part: 'send',
    what,
    baseline: TITLES[baseline],
    theirs: of(baseline, 'rate'),
    ours: of(name, 'rate'),
    goal,
    cpu: { theirs: cpu(baseline), ours: cpu(name) },
  });
}
