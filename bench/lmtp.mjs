/**
 * Measures receiving mail by LMTP against Debian's Dovecot, which delivers into a Maildir: CPU time for a mail, with 1, 10 and 50
 * connections; rounds of both sides alternate. The service's work after a mail is recorded (search, numbering of events) counts.
 * `BENCH_EMAILS` sets the mails of a round (1,000), `BENCH_ROUNDS` the number of rounds (3), `BENCH_CONNECTIONS` the numbers of
 * connections.
 */
import { setTimeout as wait } from 'node:timers/promises';
import { cpuOfTree, serviceCpu } from './cpu.mjs';
import { startDovecot } from './dovecot.mjs';
import { freePort } from './free-port.mjs';
import { deliver } from './lmtp-client.mjs';
import { mails } from './mail-archive.mjs';
import { startService } from './processes.mjs';
import { median, record, spread } from './results.mjs';

const EMAILS = Number(process.env.BENCH_EMAILS ?? 1000);
const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 3);
const CONNECTIONS = (process.env.BENCH_CONNECTIONS ?? '1,10,50').split(',').map(Number);
const RECIPIENT = 'verkauf@example.com';
/** For the work that follows the last mail. */
const QUIET_MS = 2000;

const generator = mails((ROUNDS * CONNECTIONS.length + 1) * EMAILS);
const take = () => Array.from({ length: EMAILS }, () => generator.next().value);

async function load({ port, quietMs, cpu }, batch, connections) {
  const before = cpu();
  const began = performance.now();
  await deliver({ port, recipient: RECIPIENT, mails: batch, connections });
  const seconds = (performance.now() - began) / 1000;
  await wait(quietMs);
  return { rate: batch.length / seconds, cpu: cpu().map((ms, index) => (ms - before[index]) / batch.length) };
}

const lmtpPort = await freePort();
const service = await startService({ LMTP_LISTEN: `127.0.0.1:${lmtpPort}`, MAIL_FROM: RECIPIENT });
const dovecot = await startDovecot();
try {
  const sides = {
    dovecot: { port: dovecot.lmtpPort, quietMs: 0, cpu: () => [cpuOfTree(dovecot.pid)] },
    service: {
      port: lmtpPort,
      quietMs: QUIET_MS,
      cpu: () => Object.values(serviceCpu(service)),
    },
  };
  const first = take();
  for (const side of Object.values(sides)) await load(side, first, 10);
  for (const connections of CONNECTIONS) {
    const results = { dovecot: [], service: [] };
    for (let round = 0; round < ROUNDS; round += 1) {
      const batch = take();
      for (const [name, side] of Object.entries(sides))
        results[name].push(await load(side, batch, connections));
    }
    const sums = (name) => results[name].map(({ cpu }) => cpu.reduce((sum, ms) => sum + ms, 0));
    const rates = (name) =>
      spread(
        results[name].map(({ rate }) => rate),
        0,
      );
    console.log(`${connections} connections: Dovecot ${rates('dovecot')}/s, service ${rates('service')}/s`);
    const part = (index) => median(results.service.map(({ cpu }) => cpu[index]));
    record({
      part: 'lmtp',
      what: `taking a mail by LMTP, ${connections} connection${connections === 1 ? '' : 's'}: CPU time`,
      baseline: 'Dovecot into a Maildir',
      unit: ' ms',
      theirs: sums('dovecot'),
      ours: sums('service'),
      goal: connections === 10 ? 1.1 : undefined,
      cpu: {
        theirs: { Dovecot: median(sums('dovecot')) },
        ours: { 'Node.js': part(0), PostgreSQL: part(1) },
      },
    });
  }
} finally {
  await dovecot.stop();
  await service.stop();
}
