/**
 * Reads mailboxes by IMAP (RFC 9051, RFC 3501) with imapflow. Credentials cross no network in plain text, and no error thrown from here
 * contains them.
 */
import { readFile } from 'node:fs/promises';
import { isDeepStrictEqual } from 'node:util';
import { MailboxError, type MailboxInfo, type MailboxSource } from '../../areas/mailboxes/mailbox-ports.ts';
import { endOfCertificates } from '../../platform/base/peer-certificate.ts';
import { MIN_TLS_VERSION } from '../../platform/base/tls.ts';
import { TokenError, type AccessTokens } from '../../areas/accounts/token-ports.ts';
import type { SentMailboxes } from '../../areas/sent-copies/sent-copy-ports.ts';
import type { ImapConnection } from './imap-connection.ts';
import { createSession } from './imap-session.ts';
import { mayLoginInPlainText, type ImapOptions } from './imap-url.ts';
import { openSentMailbox } from './sent-mailbox.ts';
import { SuspectUids } from './suspect-uids.ts';

export interface ImapAccount extends ImapOptions {
  readonly id: string;
  /** See SessionOptions. */
  readonly sentPath: string | null;
}

interface KnownAccount extends ImapAccount {
  readonly suspects: SuspectUids;
}

export interface ImapSource extends MailboxSource, SentMailboxes {
  /** Replaces the accounts; connections that are open stay. */
  follow(accounts: readonly ImapAccount[]): void;
}

/** @param tokens for accounts without a password */
export function createImapSource(accounts: readonly ImapAccount[], tokens: AccessTokens): ImapSource {
  const byId = new Map<string, KnownAccount>();
  function follow(next: readonly ImapAccount[]): void {
    const before = new Map(byId);
    byId.clear();
    for (const account of next) {
      const { suspects = new SuspectUids(), ...known } = before.get(account.id) ?? {};
      const isSame = isDeepStrictEqual(known, account);
      byId.set(account.id, { ...account, suspects: isSame ? suspects : new SuspectUids() });
    }
  }
  follow(accounts);
  function find(accountId: string): KnownAccount {
    const account = byId.get(accountId);
    if (account === undefined) throw new Error(`account ${accountId} has no mailbox to read`);
    return account;
  }
  return {
    follow,
    get accountIds() {
      return [...byId.keys()];
    },
    async connect(accountId, signal) {
      const account = find(accountId);
      return createSession(await connect(account, tokens, signal), account);
    },
    async openSent(accountId, signal) {
      const account = find(accountId);
      const connection = await connect(account, tokens, signal);
      const cut = () => {
        // The command under way reports any failure.
        connection.close().catch(() => undefined);
      };
      signal.addEventListener('abort', cut, { once: true });
      try {
        return await openSentMailbox(connection, account.sentPath);
      } catch (error) {
        await connection.close();
        throw error;
      } finally {
        signal.removeEventListener('abort', cut);
      }
    },
    warningOf: (accountId) => (byId.get(accountId)?.password === null ? tokens.warningOf(accountId) : null),
  };
}

/**
 * Logs in, lists the mailboxes and logs out again. Also returns when the first certificate of the server's chain expires; null without TLS.
 * Throws `MailboxError`.
 */
export async function inspectMailboxServer(
  account: ImapAccount,
  tokens: AccessTokens,
  signal: AbortSignal,
): Promise<{ readonly certificateEnds: Date | null; readonly mailboxes: readonly MailboxInfo[] }> {
  const known = { ...account, suspects: new SuspectUids() };
  const connection = await connect(known, tokens, signal);
  try {
    const certificateEnds = endOfCertificates((connection.client as unknown as { socket?: unknown }).socket);
    return { certificateEnds, mailboxes: await createSession(connection, known).listMailboxes() };
  } finally {
    await connection.close();
  }
}

/** Between two looks, in ms, for servers that do not announce mail. */
const LOOK_MS = 2000;
/** The newest ones; others may arrive meanwhile. */
const MAX_LOOKED_AT = 50;

/**
 * Calls `send`, and waits until a message with this in its header is in INBOX, which is only read. Returns how long it took, in ms; null: it
 * was not there within `waitMs`. Throws `MailboxError`, and the errors of `send`.
 */
export async function awaitArrival(
  account: ImapAccount,
  tokens: AccessTokens,
  {
    send,
    sought,
    waitMs,
  }: { readonly send: () => Promise<void>; readonly sought: string; readonly waitMs: number },
  signal: AbortSignal,
): Promise<number | null> {
  const known = { ...account, suspects: new SuspectUids() };
  const connection = await connect(known, tokens, signal);
  try {
    const session = createSession(connection, known);
    const inbox = (await session.listMailboxes()).find(({ specialUse }) => specialUse === '\\Inbox');
    if (inbox === undefined) throw new MailboxError('refused', 'the account has no INBOX');
    const { uidNext } = await session.open(inbox.path, null);
    await send();
    const startedAt = performance.now();
    for (;;) {
      signal.throwIfAborted();
      // Not every server reports what arrived unless the mailbox is opened again.
      await session.open(inbox.path, null);
      const uids = await session.listUids(uidNext ?? 1, null);
      for await (const { header } of session.fetchSummaries(uids.slice(-MAX_LOOKED_AT), 'trace'))
        if (header.includes(sought)) return performance.now() - startedAt;
      const leftMs = startedAt + waitMs - performance.now();
      if (leftMs <= 0) return null;
      await session.waitForChange(Math.min(leftMs, LOOK_MS), signal);
    }
  } finally {
    await connection.close();
  }
}

function connect(account: KnownAccount, tokens: AccessTokens, signal: AbortSignal): Promise<ImapConnection> {
  const deadline = performance.now() + account.connectTimeoutMs;
  return account.password === null
    ? connectWithToken(account, tokens, deadline, signal)
    : logIn(account, { pass: account.password }, deadline, signal);
}

/** A token that the server refuses may have been revoked meanwhile: a new one is tried once. */
async function connectWithToken(
  account: KnownAccount,
  tokens: AccessTokens,
  deadline: number,
  signal: AbortSignal,
): Promise<ImapConnection> {
  const accessToken = await getToken(account, tokens, deadline, signal);
  try {
    return await logIn(account, { accessToken }, deadline, signal);
  } catch (error) {
    if (!(error instanceof MailboxError) || error.kind !== 'credentials') throw error;
    tokens.reject(account.id, accessToken);
    const another = await getToken(account, tokens, deadline, signal);
    if (another === accessToken) throw error;
    return await logIn(account, { accessToken: another }, deadline, signal);
  }
}

async function getToken(
  account: KnownAccount,
  tokens: AccessTokens,
  deadline: number,
  signal: AbortSignal,
): Promise<string> {
  let stop = (): void => {};
  let timer: NodeJS.Timeout | undefined;
  const cut = new Promise<never>((_, reject) => {
    const late = new MailboxError('connection', `no OAuth2 token within ${account.connectTimeoutMs} ms`);
    timer = setTimeout(() => reject(late), Math.max(1, deadline - performance.now()));
    stop = () => reject(new MailboxError('connection', 'connecting was stopped'));
  });
  signal.addEventListener('abort', stop, { once: true });
  try {
    if (signal.aborted) stop();
    return await Promise.race([tokens.get(account.id), cut]);
  } catch (error) {
    if (!(error instanceof TokenError)) throw error;
    throw new MailboxError(error.permanent ? 'credentials' : 'connection', error.message, error);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', stop);
  }
}

type Credentials = { readonly pass: string } | { readonly accessToken: string };

async function logIn(
  account: KnownAccount,
  credentials: Credentials,
  deadline: number,
  signal: AbortSignal,
): Promise<ImapConnection> {
  const { host, port, user, tls, commandTimeoutMs } = account;
  // Loaded by the first connection: a service without mailboxes saves the memory of the library.
  const library = await import('./imap-connection.ts');
  const connection = new library.ImapConnection({
    host,
    port,
    secure: tls === 'implicit',
    ...startTlsOf(account),
    ...(account.tlsServername === null ? {} : { servername: account.tlsServername }),
    auth: { user, ...credentials, ...loginMethodOf(account) },
    tls: {
      minVersion: MIN_TLS_VERSION,
      rejectUnauthorized: account.tlsVerify,
      ...(account.tlsCaFile === null ? {} : { ca: await readAuthorities(account.tlsCaFile) }),
    },
    context: { server: `${host}:${port}`, secrets: Object.values(credentials) },
    commandTimeoutMs,
    suspects: account.suspects,
  });
  await connection.connect(Math.max(1, deadline - performance.now()), signal);
  return connection;
}

/** No mailbox can be read without logging in, so TLS is optional only where credentials may be sent without it. */
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
