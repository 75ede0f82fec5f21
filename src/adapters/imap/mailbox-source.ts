/**
 * Reads mailboxes by IMAP (RFC 9051, RFC 3501) with imapflow. Credentials cross no network in plain text, and nothing
 * that is thrown from here holds them.
 */
import { readFile } from 'node:fs/promises';
import { MailboxError, type MailboxSession, type MailboxSource } from '../../app/mailbox-ports.ts';
import { ImapConnection } from './imap-connection.ts';
import { createSession } from './imap-session.ts';
import { mayLoginInPlainText, type ImapOptions } from './imap-url.ts';
import { SuspectUids } from './suspect-uids.ts';

export interface ImapAccount extends ImapOptions {
  readonly id: string;
  /** See SessionOptions. */
  readonly sentPath: string | null;
}

export function createImapSource(accounts: readonly ImapAccount[]): MailboxSource {
  const byId = new Map(
    accounts.map((account) => [account.id, { ...account, suspects: new SuspectUids() }] as const),
  );
  return {
    accountIds: [...byId.keys()],
    async connect(accountId, signal) {
      const account = byId.get(accountId);
      if (account === undefined) throw new Error(`account ${accountId} has no mailbox to read`);
      return connect(account, signal);
    },
    warningOf: () => null,
  };
}

async function connect(
  account: ImapAccount & { readonly suspects: SuspectUids },
  signal: AbortSignal,
): Promise<MailboxSession> {
  const { host, port, user, password, tls, connectTimeoutMs, commandTimeoutMs } = account;
  const connection = new ImapConnection({
    host,
    port,
    secure: tls === 'implicit',
    ...startTlsOf(account),
    ...(account.tlsServername === null ? {} : { servername: account.tlsServername }),
    auth: { user, pass: password ?? '', ...loginMethodOf(account) },
    tls: {
      // RFC 8996: TLS 1.0 and 1.1 must not be used.
      minVersion: 'TLSv1.2',
      rejectUnauthorized: account.tlsVerify,
      ...(account.tlsCaFile === null ? {} : { ca: await readAuthorities(account.tlsCaFile) }),
    },
    context: { server: `${host}:${port}`, secrets: [password ?? ''].filter((secret) => secret !== '') },
    commandTimeoutMs,
    suspects: account.suspects,
  });
  await connection.connect(connectTimeoutMs, signal);
  return createSession(connection, account);
}

/** Nobody can read a mailbox without logging in, so TLS may be left out only where credentials may go without it. */
function startTlsOf(account: ImapAccount): { readonly doSTARTTLS?: boolean } {
  if (account.tls === 'implicit') return {};
  if (account.tls === 'off') return { doSTARTTLS: false };
  return account.tls === 'required' || !mayLoginInPlainText(account) ? { doSTARTTLS: true } : {};
}

function loginMethodOf({ authMethod }: ImapAccount): { readonly loginMethod?: string } {
  if (authMethod === null) return {};
  return { loginMethod: authMethod === 'PLAIN' ? 'AUTH=PLAIN' : 'LOGIN' };
}

async function readAuthorities(path: string): Promise<Buffer> {
  try {
    return await readFile(path);
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown error';
    throw new MailboxError('connection', `the file of trusted certificates can't be read: ${code}`);
  }
}
