/** A service with the listeners for mail of other programs, and the relay behind it. */
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { createTransport, type SendMailOptions } from 'nodemailer';
import { createCertificate } from './certificate.ts';
import { createTestDatabase } from './postgres.ts';
import { query } from './query.ts';
import { disposeService, startServiceProcess, TEST_SECRET, type ServiceProcess } from './service-process.ts';
import { startSmtpSink, type SmtpSink } from './smtp-sink.ts';
import { makeTempFolder } from './temp-folder.ts';

export const MAX_BYTES = 2_000_000;

export type Protocol = 'submission' | 'submissions';

export interface SubmissionService {
  readonly service: ServiceProcess;
  readonly sink: SmtpSink;
  /** PEM of the certificate that clients have to trust. */
  readonly ca: string;
  readonly caFile: string;
  readonly connectionString: string;
  portOf(protocol: Protocol): number;
  /** Creates an account, which can be paused. Its address is `<id>@company.test`. */
  makeAccount(id: string): Promise<void>;
  pause(account: string): Promise<void>;
  resume(account: string): Promise<void>;
  /** The secret of a new key. */
  makeKey(
    fields?: Readonly<Record<string, unknown>>,
  ): Promise<{ readonly id: string; readonly secret: string }>;
  /** Sends by nodemailer, with STARTTLS unless another protocol is named. */
  send(password: string, mail: SendMailOptions, protocol?: Protocol): Promise<string>;
  query(sql: string, values?: readonly unknown[]): Promise<readonly Record<string, unknown>[]>;
  /** Kills the service and starts another one on its data. */
  restart(): Promise<void>;
  dispose(): Promise<void>;
}

export async function startSubmissionService(
  env: Readonly<Record<string, string>> = {},
  moreAccounts: readonly object[] = [],
): Promise<SubmissionService> {
  const [database, folder, sink] = await Promise.all([
    createTestDatabase(),
    makeTempFolder(),
    startSmtpSink(),
  ]);
  const { cert, key } = createCertificate();
  const file = async (name: string, text: string) => {
    await writeFile(path.join(folder.path, name), text);
    return path.join(folder.path, name);
  };
  const caFile = await file('cert.pem', cert);
  const accounts = [
    { id: 'shop', from: 'The Shop <shop@company.test>', smtp_url: sink.url },
    { id: 'hr', from: 'hr@company.test', smtp_url: sink.url },
    ...moreAccounts.map((account) => ({ ...account, smtp_url: sink.url })),
  ];
  const all = {
    DATABASE_URL: database.connectionString,
    ACCOUNTS_FILE: await file('accounts.json', JSON.stringify(accounts)),
    SUBMISSION_LISTEN: '127.0.0.1:0',
    SUBMISSIONS_LISTEN: '127.0.0.1:0',
    LISTEN_TLS_CERT_FILE: caFile,
    LISTEN_TLS_KEY_FILE: await file('key.pem', key),
    SUBMISSION_MAX_BYTES: String(MAX_BYTES),
    ...env,
  };
  let service = await startServiceProcess({ env: all });

  const portOf = (protocol: Protocol): number => {
    const line = service.log.find((one) => one.includes(`"protocol":"${protocol}","address"`));
    return Number(/"address":"127\.0\.0\.1:(\d+)"/.exec(line ?? '')?.[1]);
  };
  const post = async (target: string, json?: Readonly<Record<string, unknown>>): Promise<void> => {
    const response = await service.request(target, json === undefined ? { method: 'POST' } : { json });
    if (!response.ok) throw new Error(await response.text());
  };
  return {
    get service() {
      return service;
    },
    sink,
    ca: cert,
    caFile,
    connectionString: database.connectionString,
    portOf,
    async makeAccount(id) {
      await post('/api/accounts', { id, from: `${id}@company.test`, smtp_url: sink.url });
    },
    pause: (account) => post(`/api/accounts/${account}/pause`),
    resume: (account) => post(`/api/accounts/${account}/resume`),
    async makeKey(fields = {}) {
      const response = await service.request('/api/keys', {
        json: { name: 'the shop', rights: ['send'], account_ids: ['shop'], ...fields },
      });
      const made = (await response.json()) as { key: { id: string }; secret: string };
      if (response.status !== 201) throw new Error(JSON.stringify(made));
      return { id: made.key.id, secret: made.secret };
    },
    async send(password, mail, protocol = 'submission') {
      const transport = createTransport({
        host: 'localhost',
        port: portOf(protocol),
        secure: protocol === 'submissions',
        requireTLS: true,
        auth: { user: 'the shop', pass: password },
        tls: { ca: cert },
      });
      try {
        return (await transport.sendMail(mail)).response;
      } finally {
        transport.close();
      }
    },
    query: (sql, values = []) => query(database.connectionString, sql, [...values]),
    async restart() {
      await service.kill();
      service = await startServiceProcess({ env: all, dataDir: service.dataDir });
    },
    async dispose() {
      await disposeService(service);
      await sink.stop();
      await folder.remove();
      await database.drop();
    },
  };
}

export { TEST_SECRET };
