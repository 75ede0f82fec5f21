/**
 * Measures the first read of a mailbox: one of Dovecot with `BENCH_EMAILS` mails (10,000), by the service into an empty database and, where
 * it is installed, by mbsync into a Maildir, which only copies. CPU time for a mail, including the work that follows a recorded mail.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { connectionOf } from './connection.mjs';
import { cpuOfEndedChildren, serviceCpu } from './cpu.mjs';
import { startDovecot } from './dovecot.mjs';
import { deliver } from './lmtp-client.mjs';
import { mails } from './mail-archive.mjs';
import { startService } from './processes.mjs';
import pg from 'pg';

const EMAILS = Number(process.env.BENCH_EMAILS ?? 10_000);
const USER = 'verkauf';
const MBSYNC = '/usr/bin/mbsync';
/** For the work that follows the last mail. */
const QUIET_MS = 3000;

async function readByService(dovecot) {
  const service = await startService({
    MAIL_FROM: `${USER}@example.com`,
    IMAP_URL: `imap://${USER}:secret@127.0.0.1:${dovecot.imapPort}?starttls=off`,
  });
  const client = new pg.Client(connectionOf(service.dataDir));
  await client.connect();
  // The service reads from this moment on.
  const start = serviceCpu(service);
  const began = performance.now();
  const count = async () =>
    Number(
      (await client.query(`select count(*) as n from mailbox_messages where email_id is not null`)).rows[0].n,
    );
  while ((await count()) < EMAILS) await wait(1000);
  const seconds = (performance.now() - began) / 1000;
  await client.end();
  await wait(QUIET_MS);
  const { node, database } = serviceCpu(service);
  await service.stop();
  return { seconds, start, node: node - start.node, database: database - start.database };
}

/** Copies the mailbox; CPU time used before does not count. */
function readByMbsync(dovecot, folder) {
  const target = path.join(folder, 'maildir');
  mkdirSync(target);
  const config = path.join(folder, 'mbsyncrc');
  writeFileSync(
    config,
    `IMAPAccount bench
Host 127.0.0.1
Port ${dovecot.imapPort}
User ${USER}
Pass secret
SSLType None
AuthMechs LOGIN

IMAPStore far
Account bench

MaildirStore near
Inbox ${target}/INBOX
Path ${target}/

Channel bench
Far :far:
Near :near:
Create Near
Sync Pull
SyncState *
`,
  );
  const before = cpuOfEndedChildren();
  const { status, stderr } = spawnSync(MBSYNC, ['-c', config, 'bench'], { encoding: 'utf8' });
  if (status !== 0) throw new Error(`mbsync ended with ${status}: ${stderr}`);
  return cpuOfEndedChildren() - before;
}

const dovecot = await startDovecot();
const folder = mkdtempSync(path.join(tmpdir(), 'email-worker-bench-'));
try {
  const all = [...mails(EMAILS)];
  await deliver({ port: dovecot.lmtpPort, recipient: `${USER}@example.com`, mails: all, connections: 10 });
  const { seconds, start, node, database } = await readByService(dovecot);
  const [ofNode, ofDatabase] = [node / EMAILS, database / EMAILS];
  console.log(
    `service: ${(ofNode + ofDatabase).toFixed(2)} ms of CPU for a mail = Node.js ${ofNode.toFixed(2)} + PostgreSQL ${ofDatabase.toFixed(2)}, ` +
      `${((start.node + start.database) / EMAILS).toFixed(2)} more for the first start in an empty folder; ${(EMAILS / seconds).toFixed(0)}/s`,
  );
  if (existsSync(MBSYNC)) {
    console.log(`mbsync: ${(readByMbsync(dovecot, folder) / EMAILS).toFixed(2)} ms, into a Maildir`);
  }
} finally {
  await dovecot.stop();
  rmSync(folder, { recursive: true, force: true });
}
