/** Tries the mail servers of an account: connection, TLS, certificate, log-in and mailboxes. Nothing is sent, and nothing is changed here. */
import { inspectMailboxServer } from '../connectors/imap/mailbox-source.ts';
import { openSession } from '../connectors/smtp-out/open-session.ts';
import type { FindingCode } from '../areas/accounts/account-ports.ts';
import type { AccessTokens } from '../areas/accounts/token-ports.ts';
import { endOfCertificates } from '../platform/base/peer-certificate.ts';
import { MailboxError, type MailboxInfo } from '../areas/mailboxes/mailbox-ports.ts';
import type { AccountConfig, ImapConfig } from '../config/config-accounts.ts';
import type { Config } from '../config/config.ts';
import { formatError } from '../core/causes.ts';
import { judgeEnd } from './certificate-end.ts';
import { readImapUrl } from './create-mailbox-source.ts';
import { readSmtpUrl, tokensOf } from './create-transports.ts';
import { ok, problem, warning, type Finding } from './finding.ts';

/** For each step, in ms; the service itself waits longer. */
const STEP_MS = 8000;
/** For all steps of a server that sends mail, in ms. */
const SMTP_MS = 3 * STEP_MS;

/** Where the settings are, for the advice. */
export interface Places {
  readonly smtp: string;
  readonly imap: string;
  readonly oauth2: string;
  readonly sent: string;
}

export const OF_CONFIGURATION: Places = {
  smtp: 'SMTP_URL',
  imap: 'IMAP_URL',
  oauth2: 'ACCOUNTS_FILE',
  sent: 'IMAP_SENT',
};

export const OF_REQUEST: Places = { smtp: 'smtp_url', imap: 'imap_url', oauth2: 'oauth2', sent: 'imap_sent' };

export interface ExaminedMailboxes {
  readonly findings: readonly Finding[];
  /** Empty when they could not be listed. */
  readonly mailboxes: readonly MailboxInfo[];
}

export async function examineSmtp(
  account: AccountConfig,
  config: Pick<Config, 'smtp'>,
  tokens: AccessTokens,
  places: Places,
  signal: AbortSignal,
): Promise<readonly Finding[]> {
  // The configuration check reports that the account delivers nothing.
  if (account.smtpUrl === null) return [];
  const options = smtpSession(account, account.smtpUrl, config, tokens, signal);
  const server = `${options.host}:${options.port}`;
  const found: { certificateEnds: Date | null; isConnected: boolean } = {
    certificateEnds: null,
    isConnected: false,
  };
  const findings: Finding[] = [];
  try {
    const session = await openSession(options, (socket) => {
      found.isConnected = true;
      found.certificateEnds = endOfCertificates(socket);
    });
    await session.quit();
    const how = options.credentials === null ? 'without a log-in' : `as ${options.credentials.user}`;
    findings.push(ok(`account ${account.id} sends by ${server}, ${how}`));
  } catch (error) {
    const { advice, code } = judge(error, found.isConnected, 'smtp', places);
    findings.push(problem(`account ${account.id} can't send: ${formatError(error)}`, advice, code));
  }
  return [...findings, ...ofCertificate(server, found.certificateEnds)];
}

export async function examineImap(
  account: AccountConfig,
  tokens: AccessTokens,
  places: Places,
  signal: AbortSignal,
): Promise<ExaminedMailboxes> {
  const { id, imap } = account;
  if (imap === null) return { findings: [], mailboxes: [] };
  const options = imapSession(account, imap);
  const server = `${options.host}:${options.port}`;
  try {
    const { certificateEnds, mailboxes } = await inspectMailboxServer(options, tokens, signal);
    const findings = [
      ok(`account ${id} reads ${server} as ${options.user}`),
      ofSent(id, mailboxes, imap.sentPath, places),
      ...ofCertificate(server, certificateEnds),
    ];
    return { findings, mailboxes };
  } catch (error) {
    const isLogIn = error instanceof MailboxError && error.kind === 'credentials';
    const text = `account ${id} can't read its mailbox: ${formatError(error)}`;
    const { advice, code } = judge(error, isLogIn, 'imap', places);
    return { findings: [problem(text, advice, code)], mailboxes: [] };
  }
}

/** Of a check, which does not wait as long as a send. @param signal ends it */
export function smtpSession(
  account: AccountConfig,
  smtpUrl: string,
  config: Pick<Config, 'smtp'>,
  tokens: AccessTokens,
  signal: AbortSignal,
) {
  const options = readSmtpUrl(account, smtpUrl, config);
  return {
    ...options,
    connectTimeoutMs: Math.min(options.connectTimeoutMs, STEP_MS),
    greetingTimeoutMs: Math.min(options.greetingTimeoutMs, STEP_MS),
    commandTimeoutMs: Math.min(options.commandTimeoutMs, STEP_MS),
    tokens: tokensOf(account.id, tokens),
    signal: AbortSignal.any([signal, AbortSignal.timeout(SMTP_MS)]),
  };
}

/** The same for a mailbox. */
export function imapSession(account: AccountConfig, { url, sentPath }: ImapConfig) {
  const options = readImapUrl(account, url);
  return {
    ...options,
    id: account.id,
    sentPath,
    connectTimeoutMs: Math.min(options.connectTimeoutMs, 2 * STEP_MS),
    commandTimeoutMs: Math.min(options.commandTimeoutMs, STEP_MS),
  };
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

interface Judgement {
  readonly code: FindingCode;
  readonly advice: string;
}

/** @param isLogIn the log-in failed: the server was reached, and its certificate is good */
export function judge(error: unknown, isLogIn: boolean, scheme: 'smtp' | 'imap', places: Places): Judgement {
  const reason = formatError(error);
  const variable = places[scheme];
  const ofTokens = adviceForTokens(reason, places.oauth2);
  if (ofTokens !== null) return { code: 'token_refused', advice: ofTokens };
  if (isLogIn) {
    const advice = `Correct user and password in ${variable}; some providers want a password for programs, or OAuth2.`;
    return { code: 'credentials_refused', advice };
  }
  const ofTls = adviceForTls(reason, scheme, variable);
  if (ofTls !== null) return { code: 'tls_mismatch', advice: ofTls };
  if (/expired/i.test(reason))
    return {
      code: 'certificate_expired',
      advice: 'Ask the operator of the server to renew its certificate.',
    };
  if (/certificate|self.signed|altnames/i.test(reason)) {
    const advice = `Let ${variable} name the host as its certificate does, or trust its authority with tls_ca.`;
    return { code: 'certificate_refused', advice };
  }
  if (/ENOTFOUND|EAI_AGAIN|getaddrinfo/i.test(reason))
    return { code: 'host_unknown', advice: `Correct the host in ${variable}, or the DNS of this machine.` };
  return {
    code: 'server_unreachable',
    advice: `See that the server runs, that ${variable} has its host and port, and that no firewall or provider closes the port.`,
  };
}

/** null: the reason is not about the way in which TLS begins (RFC 8314 §3): at once, or by STARTTLS. */
function adviceForTls(reason: string, scheme: 'smtp' | 'imap', variable: string): string | null {
  const ports = scheme === 'imap' ? { plain: 143, tls: 993 } : { plain: 587, tls: 465 };
  if (/wrong version number|packet length too long|unexpected message|EPROTO/i.test(reason))
    return `This port does not begin with TLS: write ${scheme}:// in ${variable}, which begins TLS by STARTTLS, or name the port that does (often ${ports.tls}).`;
  if (/STARTTLS/i.test(reason))
    return `The server offers no TLS by STARTTLS, or refuses it: name its port that begins with TLS (often ${ports.tls}) with ${scheme}s:// in ${variable}, or have its operator allow STARTTLS.`;
  if (/greeting/i.test(reason))
    return `If the port begins with TLS, write ${scheme}s:// in ${variable}; the port for ${scheme}:// is often ${ports.plain}. Otherwise the server is overloaded, or no mail server.`;
  return null;
}

/** null: the reason is not about OAuth2. The codes are those of RFC 6749 §5.2. */
function adviceForTokens(reason: string, place: string): string | null {
  if (/refused: invalid_grant/.test(reason))
    return `The refresh token is no longer valid: give consent again, and set the new one in ${place}.`;
  if (/refused: (?:invalid|unauthorized)_client/.test(reason))
    return `Correct client_id and client_secret in ${place}; if the secret has expired, get a new one from the provider.`;
  if (/refused: invalid_scope/.test(reason))
    return `Correct scope in ${place}, or ask an administrator for consent.`;
  if (/\S gave no token: /.test(reason))
    return `Check that token_url in ${place} is that of the provider and reachable from this machine.`;
  if (/(?:XOAUTH2|OAUTHBEARER) was refused/.test(reason))
    return `The server refuses the token: user must be the mailbox that gave consent, and scope in ${place} must be for this server.`;
  return null;
}

/** Sent mail that is not read is missing from threads. */
function ofSent(
  id: string,
  mailboxes: readonly MailboxInfo[],
  sentPath: string | null,
  places: Places,
): Finding {
  const sent = mailboxes.find(({ specialUse }) => specialUse === '\\Sent');
  if (sent !== undefined) return ok(`the Sent mailbox of account ${id} is ${sent.path}`);
  return warning(
    `account ${id} has no Sent mailbox that is known by its mark or its name`,
    sentPath === null
      ? `Name it in ${places.sent}, or mail that people send elsewhere is not recorded.`
      : `Correct its name in ${places.sent}.`,
    'no_sent_mailbox',
  );
}
