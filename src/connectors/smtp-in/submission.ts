/**
 * Listens for mail that other programs of the company send: message submission by RFC 6409, with STARTTLS (RFC 3207) or with TLS from the
 * beginning (RFC 8314). A client logs in by AUTH PLAIN or LOGIN (RFC 4954), which is offered and taken only below TLS, and without which no
 * message is taken. It replies 250 once the message is stored durably in the queue.
 *
 * Every refusal has an enhanced status code (RFC 3463, RFC 2034). Messages with bare CR, bare LF, NUL or lines above 998 octets are refused, as
 * they would arrive as something else.
 */
import type { SMTPServerDataStream, SMTPServerSession } from 'smtp-server';
import type { Address } from '../../core/address/address.ts';
import { addressGroup } from '../../core/edge/address-group.ts';
import type { CertificateSource } from '../../platform/base/tls.ts';
import type { LogIn, LogIns } from '../../areas/submission/log-in.ts';
import type { SubmissionUseCases } from '../../areas/submission/submit-message.ts';
import { toRefusal } from '../../areas/submission/to-refusal.ts';
import { LineFaultFinder } from './line-fault.ts';
import { MAX_LINE_OCTETS } from './limits.ts';
import {
  BAD_LINES,
  failure,
  inAscii,
  isForeign,
  NOT_ASCII,
  openServer,
  UNKNOWN_PARAMETER,
  type Envelope,
  type Listener,
  type ServerOptions,
} from './open-server.ts';
import { withinLimit } from './within-limit.ts';

export interface SubmissionOptions extends ServerOptions {
  readonly protocol: 'submission' | 'submissions';
  readonly certificate: CertificateSource;
  /** Of one message; a further recipient gets 452, and clients send to it in another transaction (RFC 5321 §4.5.3.1.10). */
  readonly maxRecipients: number;
  readonly logIns: LogIns;
  readonly submissions: SubmissionUseCases;
}

/** Throws when it can't listen. */
export function startSubmission(options: SubmissionOptions): Promise<Listener> {
  const { logIns, submissions, maxRecipients } = options;
  const recipients = new WeakMap<Envelope, Map<string, Address>>();
  const toError = (error: unknown): Error => {
    const { code, status, text } = toRefusal(error, options.logger);
    return failure(code, `${status} ${text}`);
  };
  /** Answers with the outcome of `work`, which may throw. */
  const answer = (work: () => Promise<void>, callback: (error?: Error | null) => void): void => {
    work().then(
      () => callback(),
      (error: unknown) => callback(toError(error)),
    );
  };

  async function take(stream: SMTPServerDataStream, session: SMTPServerSession): Promise<string | Error> {
    const { envelope } = session;
    const lines = new LineFaultFinder(MAX_LINE_OCTETS);
    const submitted = await submissions.submit({
      caller: () => logIns.callerOf(logInOf(session)),
      recipients: [...(recipients.get(envelope)?.values() ?? [])],
      isUtf8Allowed: envelope.mailFrom !== false && 'SMTPUTF8' in (envelope.mailFrom.args || {}),
      source: withinLimit(stream, lines),
      isWhole: () => !stream.sizeExceeded && lines.end() === null,
    });
    if (submitted === null) return lines.end() === 'long_line' ? LONG_LINE : BAD_LINES;
    return submitted.id === null ? '2.0.0 queued before' : `2.0.0 queued as ${submitted.id}`;
  }

  return openServer(options, ({ clients, lastCommand }) => ({
    secure: options.protocol === 'submissions',
    authMethods: ['PLAIN', 'LOGIN'],
    authRequiredMessage: 'log in first, below TLS',
    hideENHANCEDSTATUSCODES: false,
    disabledCommands: ['WIZ', 'SHELL', 'KILL', 'XCLIENT', 'XFORWARD'],
    onAuth({ password }, { id, remoteAddress }, callback) {
      logIns.logIn(password ?? '', addressGroup(remoteAddress)).then(
        (user) => {
          clients.noteLogIn(id);
          callback(null, { user });
        },
        (error: unknown) => callback(toError(error)),
      );
    },
    onMailFrom({ address, args }, session, callback) {
      const isUnknown = Object.keys(args || {}).some((name) => !MAIL_PARAMETERS.has(name));
      if (isUnknown) callback(UNKNOWN_PARAMETER);
      else if (isForeign(lastCommand(session.id), args)) callback(NOT_ASCII);
      else
        answer(async () => {
          const caller = await logIns.countMessage(logInOf(session));
          submissions.requireSender(caller, inAscii(address));
        }, callback);
    },
    onRcptTo({ address, args }, { id, envelope }, callback) {
      const known = recipients.get(envelope) ?? new Map<string, Address>();
      recipients.set(envelope, known);
      if (Object.keys(args || {}).length > 0) callback(UNKNOWN_PARAMETER);
      else if (isForeign(lastCommand(id), envelope.mailFrom && envelope.mailFrom.args)) callback(NOT_ASCII);
      else if (known.size >= maxRecipients)
        callback(failure(452, '4.5.3 too many recipients, send to the others in another transaction'));
      else
        answer(async () => {
          known.set(address.toLowerCase(), await submissions.recipient(inAscii(address)));
        }, callback);
    },
    onData(stream, session, callback) {
      clients.noteMessageBegin(session.id);
      const end = (outcome: string | Error): void => {
        const isTaken = typeof outcome === 'string';
        clients.noteMessageEnd(session.id, isTaken);
        // The rest of a refused message is read and dropped, so that the client is listening when the reply arrives.
        stream.resume();
        if (isTaken) callback(null, outcome);
        else callback(outcome);
      };
      take(stream, session).then(end, (error: unknown) => end(toError(error)));
    },
  }));
}

/** Of a client that has logged in: the library lets no other send. */
function logInOf({ user }: SMTPServerSession): LogIn {
  if (!user) throw new Error('a client sends before it has logged in');
  return user as LogIn;
}

/**
 * Parameters of the extensions that EHLO lists: RFC 1870, 6152, 6531 and 4954. That of AUTH names who wrote the message, as far as a client
 * knows; From has to be right whatever it says.
 */
const MAIL_PARAMETERS: ReadonlySet<string> = new Set(['SIZE', 'BODY', 'SMTPUTF8', 'AUTH']);

const LONG_LINE = failure(
  550,
  `5.6.0 a line has more than ${MAX_LINE_OCTETS} octets: encode the text as quoted-printable or Base64`,
);
