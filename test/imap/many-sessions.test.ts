/** The memory of many mailboxes that one process watches over TLS. IMAP_SESSIONS sets how many. */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, it } from 'vitest';
import { MAIL_USERS } from '../helpers/dovecot-files.ts';
import { startDovecot } from '../helpers/dovecot-server.ts';
import { sourceOf } from '../helpers/imap-sessions.ts';
import { skipWithoutMailServers } from '../helpers/mail-servers.ts';

const SESSIONS = Number(process.env.IMAP_SESSIONS ?? 60);
/** Connections that are set up at the same time. */
const AT_ONCE = 10;
/** Measured with 1,000: 28 KiB, and 103 KiB of the process's memory including the cost of TLS. */
const MAX_BYTES_PER_SESSION = 100 * 1024;

const MANY = `
default_client_limit = 20000
default_process_limit = 2000
mail_max_userip_connections = 0
mailbox_idle_check_interval = 1 s
service imap-login {
  service_count = 0
  process_min_avail = 1
  client_limit = 10000
  vsz_limit = 2G
}
service imap {
  service_count = 0
  client_limit = 100
  process_limit = 200
}
`;

describe.skipIf(skipWithoutMailServers())('many idle sessions', () => {
  it('stay small, and each hears of its mail', async () => {
    const server = await startDovecot({ tls: true, settings: MANY });
    const login = `alice:${encodeURIComponent(MAIL_USERS.alice.password)}`;
    const url = `imaps://${login}@localhost:${server.imapsPort}?tls_ca=${server.caFile}`;
    const source = sourceOf(url);
    const connect = async () => {
      const session = await source.connect('a', new AbortController().signal);
      await session.open('INBOX', null);
      return session;
    };
    // Code is loaded and compiled before measuring starts.
    const first = await connect();
    const before = memory();
    const sessions = [first];
    const waits: Promise<string>[] = [];
    while (sessions.length < SESSIONS) {
      const some = await Promise.all(
        Array.from({ length: Math.min(AT_ONCE, SESSIONS - sessions.length) }, connect),
      );
      sessions.push(...some);
    }
    for (const session of sessions) waits.push(session.waitForChange(600_000, new AbortController().signal));
    await server.withClient('bob', (client) => client.noop());
    const after = memory();
    const live = (after.live - before.live) / (SESSIONS - 1);
    const resident = (after.resident - before.resident) / (SESSIONS - 1);
    if (process.env.IMAP_SESSIONS !== undefined) {
      const kib = (bytes: number) => `${(bytes / 1024).toFixed(0)} KiB`;
      process.stderr.write(`${SESSIONS} sessions: ${kib(live)} live, ${kib(resident)} resident each\n`);
    }
    expect(live).toBeLessThan(MAX_BYTES_PER_SESSION);

    await server.withClient('alice', (client) => client.append('INBOX', 'Subject: x\r\n\r\nx\r\n'));
    expect(new Set(await Promise.all(waits))).toEqual(new Set(['changed']));
    await Promise.all(sessions.map((session) => session.close()));
    await server.stop();
  }, 600_000);
});

/** Measured after garbage collection. */
function memory(): { readonly live: number; readonly resident: number } {
  setFlagsFromString('--expose-gc');
  (runInNewContext('gc') as () => void)();
  const { heapUsed, external, rss } = process.memoryUsage();
  return { live: heapUsed + external, resident: rss };
}
