/**
 * A private Postfix and a private Dovecot for end-to-end tests: their own folder, high ports of 127.0.0.1, no trace left behind. Postfix
 * takes mail for alice and bob of example.test and hands it by LMTP to Dovecot, which offers it by IMAP. Needs root, as both servers switch
 * to users of their own, and the packages of .ci/install-servers.sh.
 */
import { execFileSync } from 'node:child_process';
import { chmod, chown, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import {
  postfixConfig,
  postfixServices,
  POSTFIX_QUEUES,
  type MailServerPlan,
  type RelayLogin,
} from './mail-server-configs.ts';
import { startDaemon } from './daemon.ts';
import {
  DOVECOT,
  findFreePorts,
  findId,
  findMailOwner,
  MAIL_USERS,
  writeDovecotFiles,
} from './dovecot-files.ts';
import { skipFor, whyMissing } from './skip.ts';

const POSTFIX_MASTER = '/usr/lib/postfix/sbin/master';
const NEEDED_FILES = [POSTFIX_MASTER, DOVECOT, '/usr/lib/dovecot/lmtp', '/usr/lib/dovecot/imap-login'];

export type MailUser = keyof typeof MAIL_USERS;

export interface MailServers {
  readonly host: '127.0.0.1';
  /** Takes mail for example.test from this machine; unknown users are refused at RCPT; STARTTLS is offered. */
  readonly smtpPort: number;
  /** Submission (RFC 6409): STARTTLS and AUTH are required; the certificate is for `localhost`. */
  readonly submissionPort: number;
  /** IMAP in plain text. */
  readonly imapPort: number;
  /** PEM file of the authority that clients must trust. */
  readonly caFile: string;
  readonly users: Readonly<Record<MailUser, { readonly address: string; readonly password: string }>>;
  /** The servers' log so far. */
  readLog(): Promise<string>;
  stop(): Promise<void>;
}

/** The reason why the servers can't be started here; null if they can. */
function whyUnavailable(): string | null {
  if (process.getuid?.() !== 0) return 'Postfix and Dovecot can only be started by root';
  const missing = whyMissing(NEEDED_FILES);
  if (missing !== null) return missing;
  const version = execFileSync(DOVECOT, ['--version']).toString().trim();
  // 2.4 has another configuration language.
  return version.startsWith('2.3.') ? null : `Dovecot ${version} is not supported by the tests, only 2.3`;
}

/** For `describe.skipIf`; see skip.ts. */
export const skipWithoutMailServers = (): boolean =>
  skipFor('end-to-end tests with mail servers', whyUnavailable());

/**
 * `deliverTo`: another target of Postfix's deliveries, such as `lmtp:inet:127.0.0.1:2424`. `relayTo`: port of 127.0.0.1 that takes mail for
 * other domains; null: such mail is refused. `relayLogin`: Postfix logs in there.
 */
export async function startMailServers(
  deliverTo: string | null = null,
  relayTo: number | null = null,
  relayLogin: RelayLogin | null = null,
): Promise<MailServers> {
  const root = await mkdtemp(path.join(tmpdir(), 'mail-servers-'));
  try {
    return await startIn(root, { deliverTo, relayTo, relayLogin });
  } catch (error) {
    const log = await readLogs(root);
    await rm(root, { recursive: true, force: true });
    throw new Error(`the mail servers did not start\n${log}`, { cause: error });
  }
}

async function startIn(
  root: string,
  relay: Pick<MailServerPlan, 'deliverTo' | 'relayTo' | 'relayLogin'>,
): Promise<MailServers> {
  const users = MAIL_USERS;
  const [smtpPort = 0, submissionPort = 0, imapPort = 0] = await findFreePorts(3);
  const owner = await findMailOwner();
  const plan: MailServerPlan = { root, smtpPort, submissionPort, imapPort, users, owner, ...relay };
  await writeFiles(plan);
  const dovecot = startDaemon(DOVECOT, ['-F', '-c', path.join(root, 'dovecot.conf')]);
  const postfix = startDaemon(POSTFIX_MASTER, ['-d', '-c', path.join(root, 'postfix')]);
  const stop = async (): Promise<void> => {
    await Promise.all([postfix.stop(), dovecot.stop()]);
    await rm(root, { recursive: true, force: true });
  };
  try {
    await Promise.all([
      postfix.waitForPort(smtpPort, '220 '),
      postfix.waitForPort(submissionPort, '220 '),
      dovecot.waitForPort(imapPort, '* OK'),
    ]);
  } catch (error) {
    await Promise.all([postfix.stop(), dovecot.stop()]);
    throw error;
  }
  return {
    host: '127.0.0.1',
    smtpPort,
    submissionPort,
    imapPort,
    caFile: path.join(root, 'cert.pem'),
    users,
    readLog: () => readLogs(root),
    stop,
  };
}

async function writeFiles(plan: MailServerPlan): Promise<void> {
  const at = (...names: readonly string[]): string => path.join(plan.root, ...names);
  await writeDovecotFiles(plan);

  const postfixUser = await findId('passwd', 'postfix');
  const postdropGroup = await findId('group', 'postdrop');
  await mkdir(at('postfix'));
  await writeFile(at('postfix', 'main.cf'), postfixConfig(plan));
  await writeFile(at('postfix', 'master.cf'), postfixServices(plan));
  await mkdir(at('postfix-data'));
  await chown(at('postfix-data'), postfixUser, postdropGroup);
  await mkdir(at('spool'));
  for (const [name, mode] of Object.entries(POSTFIX_QUEUES)) {
    await mkdir(at('spool', name));
    if (name !== 'pid') await chown(at('spool', name), postfixUser, postdropGroup);
    await chmod(at('spool', name), mode);
  }
}

async function readLogs(root: string): Promise<string> {
  const logs = await Promise.all(
    ['postfix.log', 'dovecot.log'].map((name) => readFile(path.join(root, name), 'utf8').catch(() => '')),
  );
  return logs.join('');
}
