/** The mail servers of an account: connection, TLS, certificate and log-in, for sending and for reading. */
import { inspectMailboxServer } from '../../adapters/imap/mailbox-source.ts';
import { createTokenStore } from '../../adapters/postgres/accounts/oauth2-tokens.ts';
import { openSession } from '../../adapters/smtp-out/open-session.ts';
import { endOfCertificates } from '../../app/base/peer-certificate.ts';
import type { Logger } from '../../app/base/basics.ts';
import { MailboxError } from '../../app/mailboxes/mailbox-ports.ts';
import type { AccountConfig } from '../../config/config-accounts.ts';
import type { Config } from '../../config/config.ts';
import { createAccessTokens, type OAuth2Tokens } from '../../adapters/oauth2/access-tokens.ts';
import { tokenAccounts } from '../../service/create-access-tokens.ts';
import { readImapUrl } from '../../service/create-mailbox-source.ts';
import { readSmtpUrl, tokensOf } from '../../service/create-transports.ts';
import { formatError } from '../command-logger.ts';
import { judgeEnd } from './certificate-end.ts';
import { ok, problem, warning, type Check, type Finding } from './finding.ts';
import type { PatientData } from './patient-data.ts';

/** For each step, in ms; the service itself waits longer. */
const STEP_MS = 8000;

export function checkMailServers(config: Config, data: PatientData, logger: Logger): readonly Check[] {
  return config.accounts.flatMap((account) => [
    {
      area: 'mail servers' as const,
      name: `the mail server that account ${account.id} sends by`,
      run: () => withTokens(account, data, logger, (tokens) => ofSmtp(account, config, tokens)),
    },
    {
      area: 'mail servers' as const,
      name: `the mailbox of account ${account.id}`,
      run: (signal: AbortSignal) =>
        withTokens(account, data, logger, (tokens) => ofImap(account, tokens, signal)),
    },
  ]);
}

/** A refresh token that a server replaces must be stored, so these accounts wait for the database. */
async function withTokens(
  account: AccountConfig,
  data: PatientData,
  logger: Logger,
  check: (tokens: OAuth2Tokens) => Promise<readonly Finding[]>,
): Promise<readonly Finding[]> {
  const tokens = createAccessTokens(tokenAccounts([account]), logger);
  try {
    if (account.oauth2 !== null) {
      const database = await data.database;
      if (database.kind !== 'open') {
        return [
          warning(
            `account ${account.id} logs in with OAuth2, which is not tried while the database is away`,
            'Run the doctor again when the database is available.',
          ),
        ];
      }
      tokens.keepIn(createTokenStore(database.pool));
    }
    return await check(tokens);
  } finally {
    await tokens.close();
  }
}

async function ofSmtp(
  account: AccountConfig,
  config: Config,
  tokens: OAuth2Tokens,
): Promise<readonly Finding[]> {
  // The configuration check reports that the account delivers nothing.
  if (account.smtpUrl === null) return [];
  const options = readSmtpUrl(account, account.smtpUrl, config);
  const server = `${options.host}:${options.port}`;
  const found: { certificateEnds: Date | null; isConnected: boolean } = {
    certificateEnds: null,
    isConnected: false,
  };
  const findings: Finding[] = [];
  try {
    const session = await openSession(
      {
        ...options,
        connectTimeoutMs: Math.min(options.connectTimeoutMs, STEP_MS),
        greetingTimeoutMs: Math.min(options.greetingTimeoutMs, STEP_MS),
        commandTimeoutMs: Math.min(options.commandTimeoutMs, STEP_MS),
        tokens: tokensOf(account.id, tokens),
      },
      (socket) => {
        found.isConnected = true;
        found.certificateEnds = endOfCertificates(socket);
      },
    );
    await session.quit();
    const how = options.credentials === null ? 'without a log-in' : `as ${options.credentials.user}`;
    findings.push(ok(`account ${account.id} sends by ${server}, ${how}`));
  } catch (error) {
    const advice = adviceFor(error, found.isConnected, 'SMTP_URL');
    findings.push(problem(`account ${account.id} can't send: ${formatError(error)}`, advice));
  }
  return [...findings, ...ofCertificate(server, found.certificateEnds)];
}

async function ofImap(
  account: AccountConfig,
  tokens: OAuth2Tokens,
  signal: AbortSignal,
): Promise<readonly Finding[]> {
  const { id, imap } = account;
  if (imap === null) return [];
  const options = readImapUrl(account, imap.url);
  const server = `${options.host}:${options.port}`;
  try {
    const { certificateEnds } = await inspectMailboxServer(
      {
        ...options,
        id,
        sentPath: imap.sentPath,
        connectTimeoutMs: Math.min(options.connectTimeoutMs, 2 * STEP_MS),
        commandTimeoutMs: Math.min(options.commandTimeoutMs, STEP_MS),
      },
      tokens,
      signal,
    );
    return [
      ok(`account ${id} reads ${server} as ${options.user}`),
      ...ofCertificate(server, certificateEnds),
    ];
  } catch (error) {
    const isLogIn = error instanceof MailboxError && error.kind === 'credentials';
    return [
      problem(
        `account ${id} can't read its mailbox: ${formatError(error)}`,
        adviceFor(error, isLogIn, 'IMAP_URL'),
      ),
    ];
  }
}

function ofCertificate(server: string, end: Date | null): readonly Finding[] {
  if (end === null) return [];
  return [
    judgeEnd(
      `the certificate of ${server}`,
      end,
      'Ask its operator to renew it: mail stops when it expires.',
    ),
  ];
}

/** @param isLogIn the log-in failed: the server was reached, and its certificate is good */
export function adviceFor(error: unknown, isLogIn: boolean, variable: string): string {
  const reason = formatError(error);
  const ofTokens = adviceForTokens(reason);
  if (ofTokens !== null) return ofTokens;
  if (isLogIn) {
    return `Correct user and password in ${variable}; some providers want a password for programs, or OAuth2.`;
  }
  const ofTls = adviceForTls(reason, variable);
  if (ofTls !== null) return ofTls;
  if (/expired/i.test(reason)) return 'Ask the operator of the server to renew its certificate.';
  if (/certificate|self.signed|altnames/i.test(reason)) {
    return `Let ${variable} name the host as its certificate does, or trust its authority with tls_ca.`;
  }
  if (/ENOTFOUND|EAI_AGAIN|getaddrinfo/i.test(reason))
    return `Correct the host in ${variable}, or the DNS of this machine.`;
  return `See that the server runs, that ${variable} has its host and port, and that no firewall or provider closes the port.`;
}

/** null: the reason is not about the way in which TLS begins (RFC 8314 §3): at once, or by STARTTLS. */
function adviceForTls(reason: string, variable: string): string | null {
  const scheme = variable === 'IMAP_URL' ? 'imap' : 'smtp';
  const ports = variable === 'IMAP_URL' ? { plain: 143, tls: 993 } : { plain: 587, tls: 465 };
  if (/wrong version number|packet length too long|unexpected message|EPROTO/i.test(reason))
    return `This port does not begin with TLS: write ${scheme}:// in ${variable}, which begins TLS by STARTTLS, or name the port that does (often ${ports.tls}).`;
  if (/STARTTLS/i.test(reason))
    return `The server offers no TLS by STARTTLS, or refuses it: name its port that begins with TLS (often ${ports.tls}) with ${scheme}s:// in ${variable}, or have its operator allow STARTTLS.`;
  if (/greeting/i.test(reason))
    return `If the port begins with TLS, write ${scheme}s:// in ${variable}; the port for ${scheme}:// is often ${ports.plain}. Otherwise the server is overloaded, or no mail server.`;
  return null;
}

/** null: the reason is not about OAuth2. The codes are those of RFC 6749 §5.2. */
function adviceForTokens(reason: string): string | null {
  if (/refused: invalid_grant/.test(reason))
    return 'The refresh token is no longer valid: give consent again, set the new one in ACCOUNTS_FILE, and restart the service.';
  if (/refused: (?:invalid|unauthorized)_client/.test(reason))
    return 'Correct client_id and client_secret in ACCOUNTS_FILE; if the secret has expired, get a new one from the provider.';
  if (/refused: invalid_scope/.test(reason))
    return 'Correct scope in ACCOUNTS_FILE, or ask an administrator for consent.';
  if (/\S gave no token: /.test(reason))
    return 'Check that token_url in ACCOUNTS_FILE is that of the provider and reachable from this machine.';
  if (/(?:XOAUTH2|OAUTHBEARER) was refused/.test(reason))
    return 'The server refuses the token: user must be the mailbox that gave consent, and scope in ACCOUNTS_FILE must be for this server.';
  return null;
}
