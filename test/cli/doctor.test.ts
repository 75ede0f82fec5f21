/** `email-worker doctor`, with real servers, healthy and not. */
import { execFileSync, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { chmod, mkdir, readdir, readFile, unlink, writeFile } from 'node:fs/promises';
import { createServer as createHttpServer } from 'node:http';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { judgeClock } from '../../src/cli/doctor/check-database.ts';
import { checkDns } from '../../src/cli/doctor/check-dns.ts';
import { checkProgram } from '../../src/cli/doctor/check-program.ts';
import { ok } from '../../src/service/finding.ts';
import { runChecks } from '../../src/cli/doctor/run-checks.ts';
import { createResolver } from '../../src/cli/resolver.ts';
import { loadConfig } from '../../src/config/config.ts';
import { createCertificate } from '../helpers/certificate.ts';
import { runCommandInProcess } from '../helpers/command-in-process.ts';
import { MAIN } from '../helpers/command-process.ts';
import { startDnsServer, type DnsServer } from '../helpers/dns-server.ts';
import { startDovecot } from '../helpers/dovecot-server.ts';
import { createExternalPostgres, skipWithoutExternalPostgres } from '../helpers/external-postgres.ts';
import { findFreePort } from '../helpers/free-port.ts';
import { skipWithoutMailServers } from '../helpers/mail-servers.ts';
import { openMailStores } from '../helpers/mail-stores.ts';
import { outboundRecord } from '../helpers/outbound-record.ts';
import { skipWithoutPgBouncer, startPgBouncer } from '../helpers/pgbouncer.ts';
import { createEmptyDatabase, createTestDatabase, type TestDatabase } from '../helpers/postgres.ts';
import { query } from '../helpers/query.ts';
import { PASSWORD, startRealSmtpServer } from '../helpers/real-smtp-server.ts';
import { startScriptedServer } from '../helpers/scripted-smtp-server.ts';
import { startS3Server } from '../helpers/s3-server.ts';
import { makeTempFolder, type TempFolder } from '../helpers/temp-folder.ts';
import { withTinyDisk } from '../helpers/tiny-disk.ts';
import { startTokenServer } from '../helpers/token-server.ts';

const DAY_MS = 86_400_000;

interface FindingJson {
  readonly area: string;
  readonly grade: 'ok' | 'warning' | 'problem';
  readonly text: string;
  readonly advice: string | null;
}

let dns: DnsServer;
let database: TestDatabase;
let folder: TempFolder;
let port: string;
beforeAll(async () => {
  [dns, database] = await Promise.all([startDnsServer(), createTestDatabase()]);
});
afterAll(async () => {
  await dns.stop();
  await database.drop();
});
beforeEach(async () => {
  folder = await makeTempFolder();
  await chmod(folder.path, 0o700);
  port = String(await findFreePort());
});
afterEach(async () => {
  dns.records.clear();
  dns.others.clear();
  await folder.remove();
});

const envOf = (env: Readonly<Record<string, string>> = {}) => ({
  PORT: port,
  DATABASE_URL: database.connectionString,
  MAIL_FROM: 'Sales <sales@mail.example.com>',
  ...env,
});

const examine = (env?: Readonly<Record<string, string>>) => examineWith(envOf(env));

async function examineWith(env: Readonly<Record<string, string>>) {
  const result = await runCommandInProcess(['doctor', '--json', '--resolver', dns.address], {
    dataDir: folder.path,
    env,
  });
  expect(result.stderr).toBe('');
  const told = JSON.parse(result.stdout) as { problems: number; warnings: number; findings: FindingJson[] };
  const textOf = (grade: FindingJson['grade']) =>
    told.findings.filter((one) => one.grade === grade).map(({ text }) => text);
  // Each problem or warning has advice, and healthy things have none.
  for (const { grade, advice } of told.findings) expect(advice === null).toBe(grade === 'ok');
  expect(result.exitCode).toBe(told.problems > 0 ? 1 : 0);
  return { ...result, ...told, problem: textOf('problem'), warning: textOf('warning'), ok: textOf('ok') };
}

function publishGoodRecords(): void {
  dns.others.set('MX mail.example.com', ['10 mx.example.com']);
  dns.records.set('mail.example.com', [['v=spf1 mx -all']]);
  dns.records.set('_dmarc.mail.example.com', [['v=DMARC1; p=reject']]);
}

async function startTlsServer(notAfter: Date) {
  const certificate = createCertificate({ notAfter, notBefore: new Date(Date.now() - 400 * DAY_MS) });
  const caFile = path.join(folder.path, 'ca.pem');
  await writeFile(caFile, certificate.cert, { mode: 0o600 });
  const server = await startRealSmtpServer({ ...certificate, disabledCommands: [], authOptional: true });
  const url = (password: string) =>
    `smtp://alice:${encodeURIComponent(password)}@localhost:${server.port}?starttls=required&tls_ca=${encodeURIComponent(caFile)}`;
  return { server, url };
}

describe('a service that is well', () => {
  it('has no problem, and nothing is left of the looking', async () => {
    publishGoodRecords();
    const { server, url } = await startTlsServer(new Date(Date.now() + 100 * DAY_MS));
    const result = await examine({ SMTP_URL: url(PASSWORD) });
    await server.close();
    expect(result.problem).toEqual([]);
    expect(result.ok).toEqual(
      expect.arrayContaining([
        expect.stringContaining('can be written'),
        expect.stringContaining('are free on the disk'),
        expect.stringMatching(/^PostgreSQL \d+.*external/),
        'the clock of the database agrees with the one of this machine',
        'the schema email_worker is the one of this version',
        'a file was written to DATA_DIR/files, read and deleted',
        `account default sends by localhost:${server.port}, as alice`,
        `the certificate of localhost:${server.port} expires in 100 d`,
        'mail.example.com takes mail at mx.example.com',
        'mail.example.com: SPF: v=spf1 mx -all',
        '_dmarc.mail.example.com: DMARC: v=DMARC1; p=reject',
        `127.0.0.1:${port} is free for HTTP`,
        'account default has 0 sends in the queue',
      ]),
    );
    expect(result.warning).toEqual(expect.arrayContaining(['no service runs on DATA_DIR']));
    expect(await readdir(folder.path, { recursive: true })).not.toEqual(
      expect.arrayContaining([expect.stringMatching(/doctor|probe/)]),
    );
  });
});

describe('faults', () => {
  it('are told of each part, however many there are, and never with a secret', async () => {
    const closed = await findFreePort();
    const used = createServer();
    used.listen(Number(port), '127.0.0.1');
    await once(used, 'listening');
    const { server, url } = await startTlsServer(new Date(Date.now() + 5 * DAY_MS));
    const result = await examine({
      DATABASE_URL: `postgres://worker:secret-of-database@127.0.0.1:${closed}/mail`,
      SMTP_URL: url('secret-of-smtp'),
      IMAP_URL: `imap://bob:secret-of-imap@127.0.0.1:${closed}`,
      API_SECRET: 'aaaaaaaaaaaaaaaaaaaa',
      METRICS_LISTEN: `0.0.0.0:${await findFreePort()}`,
    });
    await server.close();
    used.close();
    expect(result.problem).toEqual([
      expect.stringMatching(/^the database is away: .*ECONNREFUSED/),
      expect.stringMatching(/^account default can't send: .*AUTH.* was refused: 535/),
      expect.stringMatching(/^account default can't read its mailbox: .*ECONNREFUSED/),
      'mail.example.com has no MX record',
      expect.stringContaining('there is no SPF record'),
      expect.stringContaining('there is no DMARC record'),
      expect.stringMatching(
        new RegExp(`^the service can't listen for HTTP at 127.0.0.1:${port}: .*another process listens`),
      ),
    ]);
    expect(result.warning).toEqual(
      expect.arrayContaining([
        'API_SECRET can be guessed',
        expect.stringContaining('METRICS_LISTEN is open to other machines'),
        `the certificate of localhost:${server.port} expires in 5 d`,
        'mail from mail.example.com is not signed here',
      ]),
    );
    expect(result.stdout).not.toMatch(/secret-of|aaaaaaaa|c2VjcmV0/);
  });

  it('of a certificate that has ended are told as such', async () => {
    const { server, url } = await startTlsServer(new Date(Date.now() - DAY_MS));
    const result = await examine({ SMTP_URL: url(PASSWORD) });
    await server.close();
    const found = result.findings.find(({ text }) => text.startsWith("account default can't send"));
    expect(found?.text).toContain('certificate has expired');
    expect(found?.advice).toBe('Ask the operator of the server to renew its certificate.');
  });

  it('of the work that waits are told by account', async () => {
    const { pool, store, end, database: mails } = await openMailStores();
    const due = outboundRecord({ accountId: 'default' });
    await store.recordOutbound(due);
    await pool.query(
      `insert into send_queue (email_id, account_id, lane, priority, due_at, give_up_at)
       values ($1, 'default', 'lane', 1, now() - interval '2 hours', now() + interval '1 day')`,
      [due.id],
    );
    await store.recordOutbound(outboundRecord({ accountId: 'default', state: 'unknown' }));
    await pool.query(
      `insert into mailbox_accounts (account_id, last_error, last_error_kind, last_error_at)
       values ('default', 'the password is wrong', 'credentials', now())`,
    );
    await pool.query(
      `insert into mailboxes (account_id, path, last_success_at, waiting, quarantined)
       values ('default', 'INBOX', now() - interval '1 day', 2, 1)`,
    );
    const closed = await findFreePort();
    const result = await examine({
      DATABASE_URL: mails.connectionString,
      IMAP_URL: `imap://bob:of-the-mailbox@127.0.0.1:${closed}`,
    });
    await end();
    expect(result.problem).toEqual(
      expect.arrayContaining([
        'account default has 1 send in the queue, and the first has been due for 2 h',
        'the mailbox of account default was read 24 h ago, with 2 messages to be taken',
        "the mailbox of account default can't be read: the password is wrong",
      ]),
    );
    expect(result.warning).toEqual(
      expect.arrayContaining([
        'account default has 1 send that the mail server may or may not have taken',
        'account default has 1 received message set aside',
      ]),
    );
  });

  it('of the configuration are findings, and do not hide what can be told without it', async () => {
    const result = await examine({ DATABASE_POOL_SIZE: 'many' });
    expect(result.problem).toEqual([expect.stringContaining('DATABASE_POOL_SIZE')]);
    expect(result.ok).toEqual(expect.arrayContaining([expect.stringMatching(/^email-worker \d/)]));
  });

  it('of a folder that is not there, or that others read, are told', async () => {
    await folder.remove();
    const missing = await examine();
    expect(missing.warning).toContain(`${folder.path} is not there`);
    await mkdir(folder.path, { mode: 0o755 });
    expect((await examine()).warning).toContain(`other users of this machine can read ${folder.path} (0755)`);
  });
});

describe('TLS at the wrong place', () => {
  const adviceOf = async (env: Readonly<Record<string, string>>, beginning: string) =>
    (await examine(env)).findings.find(({ text }) => text.startsWith(beginning))?.advice;
  const cannotSend = "account default can't send";
  const cannotRead = "account default can't read its mailbox";

  it('is named for a server that does not begin with TLS, or begins with it', async () => {
    const plain = await startRealSmtpServer({ disabledCommands: ['STARTTLS'], authOptional: true });
    const greeter = createServer((socket) => {
      socket.on('error', () => undefined);
      socket.end('* OK IMAP4rev1 ready\r\n');
    });
    greeter.listen(0, '127.0.0.1');
    await once(greeter, 'listening');
    const imap = `127.0.0.1:${(greeter.address() as AddressInfo).port}`;
    expect(await adviceOf({ SMTP_URL: `smtps://localhost:${plain.port}` }, cannotSend)).toMatch(
      /^This port does not begin with TLS: write smtp:\/\//,
    );
    expect(await adviceOf({ IMAP_URL: `imaps://alice:secret@${imap}` }, cannotRead)).toMatch(
      /^This port does not begin with TLS: write imap:\/\//,
    );
    await plain.close();
    greeter.close();

    const silent = createServer((socket) => socket.on('error', () => undefined));
    silent.listen(0, '127.0.0.1');
    await once(silent, 'listening');
    const address = `127.0.0.1:${(silent.address() as AddressInfo).port}`;
    expect(
      await adviceOf({ SMTP_URL: `smtp://${address}`, SMTP_GREETING_TIMEOUT_MS: '300' }, cannotSend),
    ).toContain('If the port begins with TLS, write smtps://');
    silent.close();
  });

  it('is named for a server that refuses or lacks STARTTLS', async () => {
    const lacking = await startRealSmtpServer({ disabledCommands: ['STARTTLS'], authOptional: true });
    const starttls = (serverPort: number) => ({
      SMTP_URL: `smtp://localhost:${serverPort}?starttls=required`,
    });
    const advice = /^The server offers no TLS by STARTTLS, or refuses it: .* smtps:\/\//;
    expect(await adviceOf(starttls(lacking.port), cannotSend)).toMatch(advice);
    await lacking.close();
    const refusing = await startScriptedServer({
      script: { starttls: () => '454 4.7.0 TLS not available\r\n' },
    });
    expect(await adviceOf(starttls(refusing.port), cannotSend)).toMatch(advice);
    await refusing.close();
  });
});

describe('a disk without room, or that can not be written', () => {
  it('is reported where DATA_DIR is not there yet', async (context) => {
    await withTinyDisk(context, 100_000, async (disk) => {
      const dataDir = path.join(disk, 'mail', 'data');
      const small = await examineWith(envOf({ DATA_DIR: dataDir }));
      expect(small.problem).toContainEqual(expect.stringContaining('are free on the disk'));
      expect(small.problem.join()).not.toContain("can't be made");
      await writeFile(path.join(disk, 'filler'), Buffer.alloc(200_000)).catch(() => undefined);
      const full = await examineWith(envOf({ DATA_DIR: dataDir }));
      expect(full.problem).toContainEqual(
        expect.stringMatching(`^DATA_DIR can't be made in ${disk}: .*ENOSPC`),
      );
      execFileSync('mount', ['-o', 'remount,ro', disk]);
      const sealed = await examineWith(envOf({ DATA_DIR: dataDir }));
      expect(sealed.problem).toContainEqual(
        expect.stringMatching(`^DATA_DIR can't be made in ${disk}: .*EROFS`),
      );
    });
  });
});

describe('a role that may not create the schema', () => {
  it('is named, with the statement that helps', async () => {
    const empty = await createEmptyDatabase();
    const role = `doctor_${randomUUID().slice(0, 8)}`;
    await query(empty.connectionString, `create role ${role} login`);
    const url = new URL(empty.connectionString);
    url.username = role;
    const result = await examine({ DATABASE_URL: url.href });
    await empty.drop();
    await query(database.connectionString, `drop role ${role}`);
    const text = `the role ${role} may not create the schema email_worker`;
    expect(result.problem).toContain(text);
    expect(result.findings.find((one) => one.text === text)?.advice).toContain(
      `create schema email_worker authorization ${role}`,
    );
  });
});

describe.skipIf(skipWithoutMailServers())('a mailbox', () => {
  it('is opened with a real server, whose certificate is told', async () => {
    const dovecot = await startDovecot({ tls: true });
    const { username, password } = new URL(dovecot.urlOf('alice'));
    const server = `localhost:${dovecot.imapsPort}`;
    const trust = `tls_ca=${encodeURIComponent(dovecot.caFile)}`;
    const good = await examine({ IMAP_URL: `imaps://${username}:${password}@${server}?${trust}` });
    const distrusted = await examine({ IMAP_URL: `imaps://${username}:${password}@${server}` });
    const wrong = await examine({ IMAP_URL: `imaps://${username}:of-another@${server}?${trust}` });
    await dovecot.stop();
    expect(good.ok).toContain(`account default reads ${server} as alice`);
    expect(good.warning).toContainEqual(
      expect.stringMatching(new RegExp(`^the certificate of ${server} expires in \\d+ `)),
    );
    const adviceOf = ({ findings }: { readonly findings: readonly FindingJson[] }) =>
      findings.find(({ text }) => text.startsWith("account default can't read its mailbox"))?.advice;
    expect(adviceOf(distrusted)).toContain('trust its authority with tls_ca');
    expect(adviceOf(wrong)).toContain('Correct user and password in IMAP_URL');
    expect(wrong.stdout).not.toContain('of-another');
  });
});

/** The findings about one thing, with their advice. */
const toldOf = ({ findings }: { readonly findings: readonly FindingJson[] }, beginning: string) =>
  findings
    .filter(({ text }) => text.startsWith(beginning))
    .map(({ grade, text, advice }) => `${grade}: ${text}${advice === null ? '' : ` → ${advice}`}`);

describe('the identity of the storage', () => {
  let own: TestDatabase;
  beforeEach(async () => {
    own = await createTestDatabase();
  });
  afterEach(() => own.drop());

  const examineOwn = (env: Readonly<Record<string, string>> = {}) =>
    examine({ DATABASE_URL: own.connectionString, ...env });
  const inCommand = (command: string, env: Readonly<Record<string, string>> = {}) =>
    runCommandInProcess([command], {
      dataDir: folder.path,
      env: envOf({ DATABASE_URL: own.connectionString, ...env }),
    });
  const identityFile = () => path.join(folder.path, 'files', '_storage.json');
  const recorded = () => query(own.connectionString, 'select id, is_confirmed from storage_identity');
  const storageOf = ({ findings }: { readonly findings: readonly FindingJson[] }) =>
    findings
      .filter(({ area }) => area === 'storage')
      .map(({ grade, text, advice }) => `${grade}: ${text}${advice === null ? '' : ` → ${advice}`}`);
  const folderAdvice =
    'Mount the folder, or correct DATA_DIR; run email-worker adopt-storage only when the storage is lost or was replaced.';
  const probed = 'ok: a file was written to DATA_DIR/files, read and deleted';

  it('is not made by the doctor while neither side has one', async () => {
    expect(storageOf(await examineOwn())).toEqual([
      'ok: neither the database nor DATA_DIR/files has an identity yet: the next start makes it',
      probed,
    ]);
    expect(await recorded()).toEqual([]);
    expect(await readdir(path.join(folder.path, 'files'))).toEqual(['.tmp']);
  });

  it('is the one of the database, and a proposal is not confirmed by the doctor', async () => {
    expect(await inCommand('adopt-storage')).toMatchObject({ exitCode: 0 });
    const right = ['ok: DATA_DIR/files is the storage of the database', probed];
    expect(storageOf(await examineOwn())).toEqual(right);
    await query(own.connectionString, 'update storage_identity set is_confirmed = false');
    const before = await recorded();
    expect(storageOf(await examineOwn())).toEqual(right);
    expect(await recorded()).toEqual(before);
  });

  it('may be missing, of another database or unreadable: nothing is written there, and each is told with what to do', async () => {
    await inCommand('adopt-storage');
    const before = await recorded();
    const content = await readFile(identityFile(), 'utf8');
    const { id } = JSON.parse(content) as { id: string };

    await unlink(identityFile());
    expect(storageOf(await examineOwn())).toEqual([
      expect.stringMatching(
        `^problem: the database ".*" has the storage ${id}; what is there has no identity`,
      ),
    ]);
    expect(storageOf(await examineOwn())[0]).toContain(folderAdvice);
    expect(await readdir(path.join(folder.path, 'files'))).toEqual(['.tmp']);

    const foreign = content.replace(id, randomUUID()).replace(/"database":"[^"]*"/, '"database":"of_others"');
    await writeFile(identityFile(), foreign);
    const [other] = storageOf(await examineOwn());
    expect(other).toMatch(/^problem: .* made for the database "of_others" → Mount the folder/);

    await writeFile(identityFile(), 'no identity');
    expect(storageOf(await examineOwn())).toEqual([
      expect.stringMatching(/^problem: files can't be kept in DATA_DIR\/files: .* → Mount the folder/),
    ]);
    expect(await readFile(identityFile(), 'utf8')).toBe('no identity');
    expect(await recorded()).toEqual(before);
  });

  it('is missed when the data folder is not there', async () => {
    await inCommand('adopt-storage');
    const result = await examineWith({
      ...envOf({ DATABASE_URL: own.connectionString }),
      DATA_DIR: path.join(folder.path, 'not-mounted'),
    });
    expect(storageOf(result)).toEqual([expect.stringContaining(`what is there has no identity`)]);
  });

  it('is missed in an empty bucket', async () => {
    const s3 = await startS3Server();
    const env = { BLOB_URL: s3.url, AWS_ACCESS_KEY_ID: 'S3RVER', AWS_SECRET_ACCESS_KEY: 'S3RVER' };
    await inCommand('adopt-storage', env);
    expect(storageOf(await examineOwn(env))).toEqual([
      'ok: the bucket is the storage of the database',
      'ok: a file was written to the bucket, read and deleted',
    ]);
    const wrong = await examineOwn({ ...env, BLOB_URL: s3.url.replace('some/prefix', 'empty') });
    await s3.close();
    expect(storageOf(wrong)).toEqual([
      expect.stringMatching(
        /^problem: .*what is there has no identity.* → Correct BLOB_URL; run email-worker adopt/,
      ),
    ]);
  });
});

describe('a bucket', () => {
  const keys = { AWS_ACCESS_KEY_ID: 'S3RVER', AWS_SECRET_ACCESS_KEY: 'S3RVER' };

  it('is written to, and a wrong key, a missing bucket and a server that is away are told apart', async () => {
    const s3 = await startS3Server();
    const good = await examine({ BLOB_URL: s3.url, ...keys });
    const stranger = await examine({ BLOB_URL: s3.url, ...keys, AWS_ACCESS_KEY_ID: 'STRANGER' });
    const missing = await examine({ BLOB_URL: s3.url.replace('test-bucket', 'no-bucket'), ...keys });
    await s3.close();
    const away = await examine({ BLOB_URL: s3.url, ...keys });
    expect(good.ok).toContain('a file was written to the bucket, read and deleted');
    const beginning = "files can't be kept in the bucket";
    expect(toldOf(stranger, beginning)).toEqual([
      expect.stringMatching(
        /^problem: .*Access Key Id.* → Correct AWS_ACCESS_KEY_ID: the storage rejects it\.$/,
      ),
    ]);
    expect(toldOf(missing, beginning)).toEqual([
      expect.stringMatching(/^problem: .*bucket does not exist → Create the bucket that BLOB_URL names/),
    ]);
    expect(toldOf(away, beginning)).toEqual([
      expect.stringMatching(
        /^problem: .*ECONNREFUSED.* → Check that the storage runs, that endpoint in BLOB_URL/,
      ),
    ]);
  });

  it.each([
    [403, 'SignatureDoesNotMatch', 'Correct AWS_SECRET_ACCESS_KEY'],
    [403, 'AccessDenied', 'Allow the key to list the bucket'],
    [301, 'PermanentRedirect', 'Set region in BLOB_URL'],
    [403, 'RequestTimeTooSkewed', 'Set the clock of this machine'],
  ])('that answers %i %s is told with what to do', async (status, code, advice) => {
    const server = createHttpServer((_, response) => {
      response
        .writeHead(status, { 'content-type': 'application/xml' })
        .end(`<?xml version="1.0"?><Error><Code>${code}</Code><Message>The message</Message></Error>`);
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port: s3Port } = server.address() as AddressInfo;
    const result = await examine({ BLOB_URL: `s3://emails/x?endpoint=http://127.0.0.1:${s3Port}`, ...keys });
    server.close();
    server.closeAllConnections();
    expect(toldOf(result, "files can't be kept")).toEqual([
      expect.stringContaining(`The message → ${advice}`),
    ]);
  });
});

describe('an account with OAuth2', () => {
  it('is logged in with, and a refused token, a wrong secret and a provider that is away are told apart', async () => {
    const tokens = await startTokenServer({ strict: true });
    let isTaken = true;
    const smtp = await startRealSmtpServer({
      authMethods: ['XOAUTH2'],
      disabledCommands: ['STARTTLS'],
      allowInsecureAuth: true,
      onAuth: (_auth, _session, callback) =>
        isTaken ? callback(null, { user: 'alice' }) : callback(new Error('no')),
    });
    const accountsFile = path.join(folder.path, 'accounts.json');
    const oauth2 = {
      token_url: tokens.url,
      client_id: 'the-client',
      client_secret: '${CLIENT_SECRET}',
      refresh_token: '${REFRESH_TOKEN}',
    };
    const smtpUrl = `smtp://alice@127.0.0.1:${smtp.port}?starttls=off`;
    const account = { id: 'sales', from: 'sales@mail.example.com', smtp_url: smtpUrl, oauth2 };
    await writeFile(accountsFile, JSON.stringify([account]), { mode: 0o600 });
    const ask = async (secret: string, refreshToken: string) => {
      const result = await examineWith({
        PORT: port,
        DATABASE_URL: database.connectionString,
        ACCOUNTS_FILE: accountsFile,
        CLIENT_SECRET: secret,
        REFRESH_TOKEN: refreshToken,
      });
      expect(result.stdout).not.toMatch(/refresh-token|client-secret|access-/);
      return toldOf(result, 'account sales ').filter((text) => / can't send|sends by/.test(text));
    };
    const good = 'the-client-secret';
    expect(await ask('another-client-secret', 'first-refresh-token')).toEqual([
      expect.stringMatching(/^problem: .*invalid_client → Correct client_id and client_secret/),
    ]);
    expect(await ask(good, 'used-refresh-token')).toEqual([
      expect.stringMatching(/^problem: .*invalid_grant.* → .*give consent again/),
    ]);
    // The token that the provider gives in place of the first is kept; the first is then used up.
    for (let times = 0; times < 2; times += 1)
      expect(await ask(good, 'first-refresh-token')).toEqual([
        `ok: account sales sends by 127.0.0.1:${smtp.port}, as alice`,
      ]);
    expect(tokens.requests).toHaveLength(3);
    isTaken = false;
    expect(await ask(good, 'first-refresh-token')).toEqual([
      expect.stringMatching(/^problem: .*XOAUTH2 was refused.* → The server refuses the token/),
    ]);
    await tokens.close();
    expect(await ask(good, 'another-refresh-token')).toEqual([
      expect.stringMatching(/^problem: .*gave no token: .*ECONNREFUSED.* → Check that token_url/),
    ]);
    await smtp.close();
  });
});

describe.skipIf(skipWithoutPgBouncer() || skipWithoutExternalPostgres())('a pooler', () => {
  it('is recognised, also where the configuration denies it', { tags: ['long'] }, async () => {
    const postgres = await createExternalPostgres();
    const pooler = await startPgBouncer(postgres.url);
    const env = { DATABASE_URL: pooler.url };
    const none = await examine(env);
    // Creates the schema.
    const made = await runCommandInProcess(['verify'], { dataDir: folder.path, env });
    const there = await examine(env);
    const denied = await examine({ ...env, DATABASE_POOLER: 'none' });
    await pooler.stop();
    const away = await examine(env);
    await postgres.dispose();
    expect(made.exitCode).toBe(0);
    expect(none.warning).toContain('the schema email_worker is not there, or of an older version');
    expect(there.ok).toContain('a pooler shares sessions, and the service has detected it');
    expect(toldOf(denied, 'a pooler')).toEqual([
      expect.stringMatching(/^problem: .*DATABASE_POOLER=none.* → Remove DATABASE_POOLER/),
    ]);
    expect(denied.problem.join('\n')).not.toContain('prepared statement');
    expect(toldOf(away, 'the database is away')).toEqual([
      expect.stringMatching(/^problem: .*ECONNREFUSED.* → Start the server, or correct host and port/),
    ]);
  });
});

describe('DNS', () => {
  const ask = async (env: Readonly<Record<string, string>>) => {
    const config = loadConfig({ MAIL_FROM: 'sales@mail.example.com', ...env }, folder.path);
    const checks = checkDns(config.accounts, () => createResolver([dns.address]));
    const findings = await runChecks(checks, new AbortController().signal);
    return findings.map(({ grade, text }) => `${grade}: ${text}`);
  };

  it('is asked whether the server may send, and what it is called', async () => {
    publishGoodRecords();
    dns.records.set('mail.example.com', [['v=spf1 ip4:198.51.100.7 -all']]);
    dns.others.set('A out.example.com', ['192.0.43.10']);
    dns.others.set('PTR 10.43.0.192.in-addr.arpa', ['out.example.com']);
    const good = { SMTP_URL: 'smtp://out.example.com' };
    expect(await ask(good)).toEqual(
      expect.arrayContaining([
        'warning: SPF of mail.example.com does not name 192.0.43.10 (out.example.com)',
        'ok: the reverse name of 192.0.43.10 is out.example.com, which leads back to it',
      ]),
    );
    dns.records.set('mail.example.com', [['v=spf1 a:out.example.com -all']]);
    dns.others.set('PTR 10.43.0.192.in-addr.arpa', ['other.example.com']);
    expect(await ask(good)).toEqual(
      expect.arrayContaining([
        'ok: SPF of mail.example.com allows 192.0.43.10 (out.example.com) to send for it',
        'warning: the reverse name of 192.0.43.10 is other.example.com, which does not lead back to it',
      ]),
    );
    dns.others.delete('PTR 10.43.0.192.in-addr.arpa');
    expect(await ask(good)).toContain('warning: 192.0.43.10 (out.example.com) has no reverse name (PTR)');
  });

  it('is asked nothing of a server on this machine, and of a name without a dot', async () => {
    publishGoodRecords();
    expect((await ask({ SMTP_URL: 'smtp://127.0.0.1' })).join('\n')).not.toContain('127.0.0.1');
    expect(await ask({ MAIL_FROM: 'noreply@localhost' })).toEqual([]);
  });

  it('may say that a domain takes no mail, or say nothing', async () => {
    dns.others.set('MX mail.example.com', ['0 .']);
    expect(await ask({})).toContain('problem: mail.example.com says that it takes no mail (MX .)');
    dns.records.set('mail.example.com', 'fail');
    expect((await ask({})).join('\n')).toContain('mail.example.com: DNS could not be asked: ESERVFAIL');
  });
});

describe('checks', () => {
  it('end, whatever hangs or throws, and the others are told', async () => {
    const aborted: string[] = [];
    const findings = await runChecks(
      [
        { area: 'database', name: 'one that is well', run: async () => [ok('fine')] },
        {
          area: 'storage',
          name: 'one that hangs',
          run: (signal) => {
            signal.addEventListener('abort', () => aborted.push('aborted'));
            return new Promise(() => undefined);
          },
        },
        { area: 'DNS', name: 'one that throws', run: () => Promise.reject(new Error('broken')) },
      ],
      new AbortController().signal,
      50,
    );
    expect(findings.map(({ grade, text }) => `${grade}: ${text}`)).toEqual([
      'ok: fine',
      'problem: one that hangs: no answer within 1 s',
      'problem: one that throws: broken',
    ]);
    expect(aborted).toEqual(['aborted']);
  });

  it.each([
    ['18.20.0', 'problem'],
    ['20.19.0', 'ok'],
    ['23.1.0', 'warning'],
    ['24.0.0', 'ok'],
    ['99.0.0', 'warning'],
  ])('judge Node.js %s: %s', async (version, grade) => {
    const findings = await checkProgram(version, new Date('2026-01-01')).run(new AbortController().signal);
    expect(findings[1]?.grade).toBe(grade);
  });

  it.each([
    [0, 5, 'ok'],
    [-4000, 2000, 'ok'],
    [5000, 100, 'warning'],
    [-3_600_000, 100, 'problem'],
  ])('judge a clock that is %i ms ahead, asked for %i ms: %s', (aheadMs, askedMs, grade) => {
    expect(judgeClock({ aheadMs, askedMs }).grade).toBe(grade);
  });

  it('judge the end of a version by its day', async () => {
    const findings = await checkProgram('20.19.0', new Date('2026-05-01')).run(new AbortController().signal);
    expect(findings[1]?.text).toContain('gets no security fixes since 2026-04-30');
  });
});

describe('as a program', () => {
  it(
    'names a misspelt variable, and ends although a mail server never answers',
    { tags: ['long'] },
    async () => {
      const silent = createServer();
      silent.listen(0, '127.0.0.1');
      await once(silent, 'listening');
      const { port: silentPort } = silent.address() as AddressInfo;
      const child = spawn(process.execPath, [MAIN, 'doctor', '--quiet', '--resolver', dns.address], {
        cwd: folder.path,
        env: {
          PATH: process.env.PATH ?? '',
          ...envOf({ DATA_DIR: folder.path }),
          SMTP_URI: 'x',
          SMTP_URL: `smtp://127.0.0.1:${silentPort}?greeting_timeout_ms=300&connect_timeout_ms=300`,
        },
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      let stdout = '';
      child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text));
      const [exitCode] = (await once(child, 'close')) as [number];
      silent.close();
      expect(exitCode).toBe(1);
      expect(stdout).toContain('SMTP_URI is set and has no effect');
      expect(stdout).toContain('If SMTP_URL is meant, rename it.');
      expect(stdout).toContain("account default can't send");
    },
  );
});
