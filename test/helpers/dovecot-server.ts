/** A private Dovecot without a Postfix, for tests of IMAP clients: settings of a test, mail put in directly, a kill. */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { ImapFlow } from 'imapflow';
import { startDaemon } from './daemon.ts';
import { DOVECOT, findFreePorts, findMailOwner, MAIL_USERS, writeDovecotFiles } from './dovecot-files.ts';
import type { MailUser } from './mail-servers.ts';

export interface DovecotServer {
  readonly root: string;
  readonly imapPort: number;
  /** TLS from the first byte, if the options asked for TLS. */
  readonly imapsPort: number;
  /** PEM file of the authority that clients must trust. */
  readonly caFile: string;
  /** URL with user and password. */
  urlOf(user: MailUser): string;
  /** Runs another client in the mailboxes of a user, for changes beside the one under test. */
  withClient<T>(user: MailUser, use: (client: ImapFlow) => Promise<T>): Promise<T>;
  readLog(): Promise<string>;
  /** Cuts every connection; afterwards nothing listens. */
  kill(): Promise<void>;
  /** Only after `kill`. */
  start(): Promise<void>;
  stop(): Promise<void>;
}

export interface DovecotServerOptions {
  /** Lines for dovecot.conf; `{root}` is the server's folder. */
  readonly settings?: string;
  /** Files in that folder. */
  readonly files?: Readonly<Record<string, string>>;
  readonly tls?: boolean;
}

export async function startDovecot(options: DovecotServerOptions = {}): Promise<DovecotServer> {
  const root = await mkdtemp(path.join(tmpdir(), 'dovecot-'));
  const [imapPort = 0, imapsPort = 0] = await findFreePorts(2);
  const plan = { root, imapPort, users: MAIL_USERS, owner: await findMailOwner() };
  const tls = `
ssl = yes
ssl_cert = <${root}/cert.pem
ssl_key = <${root}/key.pem
service imap-login {
  inet_listener imaps {
    port = ${imapsPort}
    ssl = yes
  }
}
`;
  const settings = (options.settings ?? '').replaceAll('{root}', root);
  await writeDovecotFiles(plan, `protocols = imap\n${options.tls === true ? tls : ''}${settings}`);
  for (const [name, content] of Object.entries(options.files ?? {})) {
    await writeFile(path.join(root, name), content);
  }
  const run = () => startDaemon(DOVECOT, ['-F', '-c', path.join(root, 'dovecot.conf')]);
  const readLog = () => readFile(path.join(root, 'dovecot.log'), 'utf8').catch(() => '');
  let daemon = run();
  const start = async () => {
    try {
      await daemon.waitForPort(imapPort, '* OK');
    } catch (error) {
      throw new Error(`Dovecot did not start\n${await readLog()}`, { cause: error });
    }
  };
  await start();
  return {
    root,
    imapPort,
    imapsPort,
    caFile: path.join(root, 'cert.pem'),
    urlOf: (user) =>
      `imap://${user}:${encodeURIComponent(MAIL_USERS[user].password)}@127.0.0.1:${imapPort}?starttls=off`,
    async withClient(user, use) {
      const client = new ImapFlow({
        host: '127.0.0.1',
        port: imapPort,
        secure: false,
        doSTARTTLS: false,
        auth: { user, pass: MAIL_USERS[user].password },
        logger: false,
      });
      await client.connect();
      try {
        return await use(client);
      } finally {
        await client.logout();
      }
    },
    readLog,
    kill: () => daemon.kill(),
    async start() {
      // A killed Dovecot leaves it behind, and the next one would mistake whatever process now has that id for itself.
      await rm(path.join(root, 'dovecot-run', 'master.pid'), { force: true });
      daemon = run();
      await start();
    },
    async stop() {
      await daemon.stop();
      await rm(root, { recursive: true, force: true });
    },
  };
}
