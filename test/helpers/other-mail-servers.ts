/**
 * Exim and OpenSMTPD for end-to-end tests, beside the Postfix of mail-servers.ts: each takes mail from this machine, hands mail for
 * example.test by LMTP to one port and everything else by SMTP to another, and writes bounces of its own. Their packages conflict with
 * Postfix's, so .ci/install-servers.sh unpacks them. Both expect users and folders of the system, which they get in a mount namespace:
 * nothing of it is visible outside, or left behind. Needs root.
 */
import { execFileSync } from 'node:child_process';
import { chmod, chown, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { startDaemon } from './daemon.ts';
import { findFreePort } from './free-port.ts';
import { skipFor, whyMissing } from './skip.ts';

const UNPACKED = '/var/cache/email-worker-test-servers';
const EXIM = `${UNPACKED}/usr/sbin/exim4`;
const OPENSMTPD = `${UNPACKED}/usr/sbin/smtpd`;

/** Numbers that no user of the machine has; they exist in the namespace only. */
const USERS = { 'Debian-exim': 61_001, opensmtpd: 61_002, opensmtpq: 61_003 } as const;

export interface OtherMailServer {
  /** For SMTP_URL. */
  readonly url: string;
  /** The server's log so far. */
  readLog(): Promise<string>;
  stop(): Promise<void>;
}

export interface OtherMailServerPlan {
  /** Port of 127.0.0.1 that takes example.test by LMTP. */
  readonly lmtpPort: number;
  /** Port of 127.0.0.1 that takes everything else by SMTP. */
  readonly upstreamPort: number;
}

/** For `describe.skipIf`; see skip.ts. */
export const skipWithoutOtherMailServers = (): boolean =>
  skipFor('end-to-end tests with Exim and OpenSMTPD', whyUnavailable());

function whyUnavailable(): string | null {
  if (process.getuid?.() !== 0) return 'Exim and OpenSMTPD can only be started by root';
  const missing = whyMissing([EXIM, OPENSMTPD]);
  if (missing !== null) return missing;
  try {
    execFileSync('/usr/bin/unshare', ['--mount', 'true'], { stdio: 'pipe' });
    return null;
  } catch {
    return 'mount namespaces are forbidden here';
  }
}

export function startExim(plan: OtherMailServerPlan): Promise<OtherMailServer> {
  return start('exim', async (root, port) => {
    for (const folder of ['spool', 'log']) {
      await mkdir(path.join(root, folder));
      await chown(path.join(root, folder), USERS['Debian-exim'], USERS['Debian-exim']);
    }
    await writeFile(path.join(root, 'exim.conf'), eximConfig(root, port, plan));
    return {
      mounts: [],
      command: `${EXIM} -C ${root}/exim.conf -bdf -q1s`,
      logs: ['log/mainlog', 'log/paniclog'],
    };
  });
}

export function startOpenSmtpd(plan: OtherMailServerPlan): Promise<OtherMailServer> {
  return start('opensmtpd', async (root, port) => {
    await writeFile(path.join(root, 'smtpd.conf'), openSmtpdConfig(port, plan));
    return {
      // Its queue, the empty folder in which it locks itself up, and its socket.
      mounts: [
        'mount -t tmpfs none /var/spool',
        'mkdir -m 711 /var/spool/smtpd',
        'mount -t tmpfs none /var/lib',
        'mkdir -p /var/lib/opensmtpd/empty',
        'mount -t tmpfs none /run',
      ],
      command: `${OPENSMTPD} -d -f ${root}/smtpd.conf >${root}/smtpd.log 2>&1`,
      logs: ['smtpd.log'],
    };
  });
}

interface Prepared {
  /** Shell commands inside the namespace. */
  readonly mounts: readonly string[];
  /** Runs in the foreground. */
  readonly command: string;
  /** Log files in the folder. */
  readonly logs: readonly string[];
}

async function start(
  name: string,
  prepare: (root: string, port: number) => Promise<Prepared>,
): Promise<OtherMailServer> {
  const root = await mkdtemp(path.join(tmpdir(), `${name}-`));
  await chmod(root, 0o755);
  const port = await findFreePort();
  const { mounts, command, logs } = await prepare(root, port);
  for (const [file, line] of [
    ['passwd', (user: string, id: number) => `${user}:x:${id}:${id}::/nonexistent:/usr/sbin/nologin\n`],
    ['group', (user: string, id: number) => `${user}:x:${id}:\n`],
  ] as const) {
    const added = Object.entries(USERS).map(([user, id]) => line(user, id));
    await writeFile(path.join(root, file), (await readFile(`/etc/${file}`, 'utf8')) + added.join(''));
  }
  const script = [
    'set -e',
    ...mounts,
    `mount --bind ${root}/passwd /etc/passwd`,
    `mount --bind ${root}/group /etc/group`,
    `exec ${command}`,
  ].join('\n');
  const daemon = startDaemon('/usr/bin/unshare', ['--mount', '--propagation', 'private', 'sh', '-c', script]);
  const readLog = async () => {
    const texts = await Promise.all(
      logs.map((log) => readFile(path.join(root, log), 'utf8').catch(() => '')),
    );
    return texts.join('');
  };
  const stop = async () => {
    await daemon.stop();
    await rm(root, { recursive: true, force: true });
  };
  try {
    await daemon.waitForPort(port, '220 ');
  } catch (error) {
    const log = await readLog();
    await stop();
    throw new Error(`${name} did not start\n${log}`, { cause: error });
  }
  return { url: `smtp://127.0.0.1:${port}`, readLog, stop };
}

/** Exim 4.94 or later. It accepts mail for local.test and cannot route it. */
function eximConfig(root: string, port: number, { lmtpPort, upstreamPort }: OtherMailServerPlan): string {
  return `
primary_hostname = exim.example.test
exim_path = ${EXIM}
spool_directory = ${root}/spool
log_file_path = ${root}/log/%slog
pid_file_path =
daemon_smtp_ports = ${port}
local_interfaces = 127.0.0.1
tls_advertise_hosts =
keep_environment =
rfc1413_query_timeout = 0s
host_lookup =
never_users =
acl_smtp_rcpt = relay
acl_smtp_data = relay

begin acl
relay:
  accept hosts = 127.0.0.1

begin routers
service:
  driver = manualroute
  domains = example.test
  route_list = * 127.0.0.1 byname
  self = send
  transport = service
upstream:
  driver = manualroute
  domains = ! local.test
  route_list = * 127.0.0.1 byname
  self = send
  transport = upstream

begin transports
service:
  driver = smtp
  protocol = lmtp
  port = ${lmtpPort}
  allow_localhost
  hosts_avoid_tls = *
upstream:
  driver = smtp
  port = ${upstreamPort}
  allow_localhost
  hosts_avoid_tls = *

begin retry
* * F,1h,2s
`;
}

/** OpenSMTPD 6.4 or later. */
function openSmtpdConfig(port: number, { lmtpPort, upstreamPort }: OtherMailServerPlan): string {
  return `
listen on 127.0.0.1 port ${port} hostname opensmtpd.example.test
smtp max-message-size "50M"
action "service" relay host "lmtp://127.0.0.1:${lmtpPort}"
action "upstream" relay host "smtp://127.0.0.1:${upstreamPort}"
match from any for domain "example.test" action "service"
match from any for any action "upstream"
`;
}
