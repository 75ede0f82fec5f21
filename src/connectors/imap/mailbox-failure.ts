/** Turns failures of the IMAP library or the server into a MailboxError without secrets. */
import type { ImapFlowError } from 'imapflow';
import { MailboxError } from '../../areas/mailboxes/mailbox-ports.ts';
import { cleanReplyText } from '../../core/delivery/reply.ts';

/** RFC 5530 §3: the login failed for a temporary reason, which says nothing about the credentials. */
const PASSING_CODES = new Set(['UNAVAILABLE', 'INUSE', 'LIMIT', 'SERVERBUG', 'OVERQUOTA', 'THROTTLED']);

// Seen in practice: Gmail "Too many simultaneous connections", Dovecot "Maximum number of connections from user+IP exceeded", Exchange
// "Server Unavailable", Yahoo "[LIMIT] Rate limit hit", at times all without one of the codes.
const PASSING_TEXT =
  /too many|maximum number of connections|temporar|unavailable|try again|rate limit|throttl|internal (?:server )?error/i;

/** The library has no code for this failure. */
const NO_MECHANISM = 'Unsupported authentication mechanism';

export interface FailureContext {
  /** Such as `imap.example.com:993`. */
  readonly server: string;
  /** Must appear in no message: servers quote what they refuse. */
  readonly secrets: readonly string[];
}

/** @param step the operation under way, such as `LIST` */
export function toMailboxError(error: unknown, step: string, context: FailureContext): MailboxError {
  if (error instanceof MailboxError) return error;
  const failure: ImapFlowError = error instanceof Error ? error : new Error(String(error));
  const say = (text: string): string => `${context.server}: ${step} ${redact(text, context.secrets)}`;
  const answer = responseText(failure);
  if (failure.authenticationFailed === true || failure.message === NO_MECHANISM) {
    const passing = PASSING_CODES.has(failure.serverResponseCode ?? '') || PASSING_TEXT.test(answer ?? '');
    return new MailboxError(
      passing ? 'connection' : 'credentials',
      say(`was refused: ${answer ?? failure.message}`),
    );
  }
  const refused = failure.responseStatus === 'NO' || failure.responseStatus === 'BAD';
  if (refused && failure.code !== 'ETHROTTLE') {
    return new MailboxError('refused', say(`was refused: ${answer ?? failure.message}`));
  }
  const reason = failure.reason ?? answer;
  return new MailboxError(
    'connection',
    say(`failed: ${failure.message}${reason === undefined ? '' : ` (${reason})`}`),
  );
}

/** The server's words; the library puts them in one of two places. */
function responseText(failure: ImapFlowError): string | undefined {
  const { oauthError, response, responseText: text } = failure;
  // RFC 7628 §3.2.2: the challenge contains the status; the tagged NO is often empty.
  const status: unknown =
    typeof oauthError === 'object' && oauthError !== null ? oauthError.status : undefined;
  const words = [text ?? (typeof response === 'string' ? response : ''), status].filter(
    (word) => (typeof word === 'string' || typeof word === 'number') && word !== '',
  );
  return words.length === 0 ? undefined : words.join(', status ');
}

function redact(text: string, secrets: readonly string[]): string {
  const clean = secrets.reduce(
    (result, secret) =>
      result.replaceAll(secret, '***').replaceAll(Buffer.from(secret).toString('base64'), '***'),
    text,
  );
  return cleanReplyText(clean);
}
