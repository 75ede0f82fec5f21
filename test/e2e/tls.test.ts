/** The built service with a certificate of an authority, made with openssl, for HTTP and for its listeners. */
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdir, readFile, rename, symlink, writeFile } from 'node:fs/promises';
import { request, type RequestOptions } from 'node:https';
import type { IncomingMessage } from 'node:http';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import type { TLSSocket } from 'node:tls';
import { promisify } from 'node:util';
import { createTransport } from 'nodemailer';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { mail, newId } from '../helpers/inbound-mail.ts';
import { createTestDatabase, type TestDatabase } from '../helpers/postgres.ts';
import {
  disposeService,
  startServiceProcess,
  TEST_SECRET,
  type ServiceProcess,
} from '../helpers/service-process.ts';
import { makeTempFolder } from '../helpers/temp-folder.ts';

const NAME = 'mail.example.com';

let database: TestDatabase;
let folder: Awaited<ReturnType<typeof makeTempFolder>>;
let service: ServiceProcess;
let ca: string;
const at = (...names: readonly string[]) => path.join(folder.path, ...names);
const openssl = (...args: readonly string[]) => promisify(execFile)('openssl', args, { cwd: folder.path });

const P256 = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-noenc'];

/** A root, and an intermediate authority that signs. */
async function makeAuthorities(): Promise<void> {
  await openssl('req', '-x509', ...P256, '-keyout', 'root.key', '-out', 'root.pem', '-subj', '/CN=Root');
  await openssl('req', ...P256, '-keyout', 'middle.key', '-out', 'middle.csr', '-subj', '/CN=Middle');
  await writeFile(at('middle.ext'), 'basicConstraints=critical,CA:TRUE\nkeyUsage=keyCertSign\n');
  const signed = ['-req', '-CA', 'root.pem', '-CAkey', 'root.key', '-CAcreateserial', '-days', '30'];
  await openssl('x509', ...signed, '-in', 'middle.csr', '-extfile', 'middle.ext', '-out', 'middle.pem');
  await writeFile(at('leaf.ext'), `subjectAltName=DNS:${NAME},IP:127.0.0.1\nextendedKeyUsage=serverAuth\n`);
  ca = await readFile(at('root.pem'), 'utf8');
}

/** Laid out as by certbot: fullchain.pem and privkey.pem of each issue in a folder of its own. */
async function issue(issueFolder: string, newKey: readonly string[]): Promise<void> {
  await mkdir(at(issueFolder));
  const keyFile = `${issueFolder}/privkey.pem`;
  await openssl('req', ...newKey, '-noenc', '-keyout', keyFile, '-out', 'leaf.csr', '-subj', `/CN=${NAME}`);
  const signed = ['-req', '-CA', 'middle.pem', '-CAkey', 'middle.key', '-CAcreateserial', '-days', '90'];
  await openssl('x509', ...signed, '-in', 'leaf.csr', '-extfile', 'leaf.ext', '-out', 'leaf.pem');
  const chain = [await readFile(at('leaf.pem')), await readFile(at('middle.pem'))];
  await writeFile(at(issueFolder, 'fullchain.pem'), Buffer.concat(chain));
}

/** Points the link `live` to another folder. */
async function putLive(issueFolder: string): Promise<void> {
  await symlink(issueFolder, at('new-link'));
  await rename(at('new-link'), at('live'));
}

beforeAll(async () => {
  [database, folder] = await Promise.all([createTestDatabase(), makeTempFolder()]);
  await makeAuthorities();
  await issue('first', ['-newkey', 'rsa:2048']);
  await putLive('first');
  service = await startServiceProcess({
    env: {
      DATABASE_URL: database.connectionString,
      MAIL_FROM: 'Bob <bob@example.com>',
      TLS_CERT_FILE: at('live/fullchain.pem'),
      TLS_KEY_FILE: at('live/privkey.pem'),
      LMTP_LISTEN: '127.0.0.1:0',
      METRICS_LISTEN: '127.0.0.1:0',
    },
  });
});
afterAll(async () => {
  await disposeService(service);
  await folder.remove();
  await database.drop();
});

/** The first log line that contains these words; waits until it is written. */
async function lineWith<T>(words: string): Promise<T> {
  const find = () => service.log.find((line) => line.includes(words));
  await expect.poll(find).toBeDefined();
  return JSON.parse(find() ?? '') as T;
}

/** Uses a new connection and the name in the certificate. */
async function ask(target: string, options: RequestOptions = {}, body?: string) {
  const { port } = new URL(service.url);
  const asked = request({
    host: '127.0.0.1',
    port,
    path: target,
    servername: NAME,
    ca,
    agent: false,
    ...options,
  });
  asked.end(body);
  const [answer] = (await once(asked, 'response')) as [IncomingMessage & { socket: TLSSocket }];
  const { serialNumber } = answer.socket.getPeerCertificate();
  return { status: answer.statusCode, headers: answer.headers, serialNumber, text: await text(answer) };
}

async function deliver(): Promise<string | undefined> {
  const { address } = await lineWith<{ address: string }>('"protocol":"lmtp","address"');
  const transport = createTransport({
    host: '127.0.0.1',
    port: Number(address.split(':')[1]),
    lmtp: true,
    requireTLS: true,
    tls: { ca, servername: NAME },
  });
  const messageId = newId();
  const envelope = { from: 'ada@example.org', to: ['bob@example.com'] };
  const { response } = await transport.sendMail({ envelope, raw: mail({ messageId }) });
  transport.close();
  return response;
}

it('speaks https to clients that know the authority, and says so', async () => {
  expect(service.url).toMatch(/^https:\/\/127\.0\.0\.1:/);
  const { link } = await lineWith<{ link: string }>('open this link to log in');
  expect(link).toMatch(new RegExp(`^https://${NAME}:\\d+/#token=`));
  expect((await ask('/api/health')).status).toBe(200);
  const authorization = `Bearer ${TEST_SECRET}`;
  expect((await ask('/api/folders', { headers: { authorization } })).status).toBe(200);
  await expect(ask('/api/health', { ca: [] })).rejects.toMatchObject({
    code: 'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  });
});

it('gives a browser that logs in a cookie for https alone', async () => {
  const headers = { 'content-type': 'application/json', 'x-requested-with': 'email-worker' };
  const body = JSON.stringify({ secret: TEST_SECRET });
  const answer = await ask('/api/session', { method: 'POST', headers }, body);
  expect(answer.status).toBeLessThan(300);
  expect(answer.headers['set-cookie']).toEqual([
    expect.stringMatching(/^__Host-email_worker_session=.*; HttpOnly; Secure; SameSite=Strict$/),
  ]);
});

it(
  'serves a renewed certificate by HTTP and by STARTTLS, and tells Prometheus of its end',
  { tags: ['long'] },
  async () => {
    expect(await deliver()).toContain('recorded');
    const { serialNumber: first } = await ask('/api/health');
    await issue('second', P256);
    await putLive('second');
    await expect.poll(async () => (await ask('/api/health')).serialNumber).not.toBe(first);
    expect(await deliver()).toContain('recorded');

    const { port } = await lineWith<{ port: number }>('metrics are at');
    const metrics = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
    const { expiresAt } = await lineWith<{ expiresAt: string }>('a new TLS certificate is in use');
    for (const listener of ['http', 'mail']) {
      expect(metrics).toContain(
        `email_worker_tls_certificate_expiry_timestamp_seconds{listener="${listener}"} ${Date.parse(expiresAt) / 1000}\n`,
      );
    }
  },
);

it.each([
  ['the key of another certificate', 'TLS_KEY_FILE: has another key than the one of the certificate'],
  ['a file that is no certificate', 'TLS_CERT_FILE: has no certificate in PEM'],
])('does not start with %s, and says why', async (what, words) => {
  await issue(`wrong for ${what}`, P256);
  const wrong = at(`wrong for ${what}`);
  if (what.startsWith('the key')) await cp(at('root.key'), path.join(wrong, 'privkey.pem'));
  else await writeFile(path.join(wrong, 'fullchain.pem'), 'nothing');
  const env = {
    DATABASE_URL: database.connectionString,
    TLS_CERT_FILE: path.join(wrong, 'fullchain.pem'),
    TLS_KEY_FILE: path.join(wrong, 'privkey.pem'),
  };
  await expect(startServiceProcess({ env, dataDir: wrong })).rejects.toThrow(words);
});
