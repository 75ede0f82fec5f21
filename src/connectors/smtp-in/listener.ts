/**
 * Listens for received mail by LMTP (RFC 2033) or SMTP (RFC 5321), from a mail server on the same machine or network. It relays nothing,
 * asks for no login and writes no trace fields. It replies 250 once the message is recorded, and 451 while it can't be; with LMTP for each
 * accepted RCPT, repeated ones too (RFC 2033 §4.2).
 *
 * By SMTP, a message with bare CR, bare LF or NUL is refused for good, as Postfix and Exim do: its client can't be trusted to mean one message.
 * By LMTP it is kept: a mail server of ours took it from its sender, who would get a bounce, or nothing. A command with one of these is refused
 * by either protocol (strict-server.ts), and only CRLF.CRLF ends a message.
 */
import type { SMTPServerDataStream, SMTPServerSession } from 'smtp-server';
import type { Delivery } from '../../areas/receive/take-delivery.ts';
import { LineFaultFinder } from './line-fault.ts';
import { MAX_RECIPIENTS } from './limits.ts';
import {
  BAD_LINES,
  failure,
  inAscii,
  isForeign,
  LATER,
  NOT_ASCII,
  openServer,
  UNKNOWN_PARAMETER,
  type Envelope,
  type Listener,
  type ServerOptions,
} from './open-server.ts';
import { withinLimit } from './within-limit.ts';

export interface ListenerOptions extends ServerOptions {
  readonly protocol: 'lmtp' | 'smtp';
  /** null: the address belongs to no account. */
  readonly accountOf: (address: string) => string | null;
  /** See takeDelivery. */
  readonly take: (delivery: Delivery) => Promise<ReadonlySet<string>>;
}

/** Throws when it can't listen. */
export function startListener(options: ListenerOptions): Promise<Listener> {
  const { protocol, certificate, logger } = options;
  const accepted: Accepted = new WeakMap();
  return openServer(options, ({ clients, lastCommand }) => ({
    lmtp: protocol === 'lmtp',
    authOptional: true,
    disabledCommands: certificate === null ? ['AUTH', 'STARTTLS'] : ['AUTH'],
    onMailFrom({ args }, { id }, callback) {
      const unknown = Object.keys(args || {}).some((name) => !MAIL_PARAMETERS.has(name));
      if (unknown) callback(UNKNOWN_PARAMETER);
      else callback(isForeign(lastCommand(id), args) ? NOT_ASCII : null);
    },
    onRcptTo({ address, args }, { id, envelope }, callback) {
      // No extension that EHLO lists has a parameter for recipients.
      if (Object.keys(args || {}).length > 0) callback(UNKNOWN_PARAMETER);
      else if (isForeign(lastCommand(id), envelope.mailFrom && envelope.mailFrom.args)) callback(NOT_ASCII);
      else if (options.accountOf(inAscii(address)) === null)
        callback(failure(550, '5.1.1 no such address here'));
      else if (envelope.rcptTo.length >= MAX_RECIPIENTS) callback(failure(452, '4.5.3 too many'));
      else {
        if (protocol === 'lmtp') keepRepeated(address, envelope);
        noteAccepted(accepted, envelope, inAscii(address));
        callback();
      }
    },
    onData(stream, session, callback) {
      clients.noteMessageBegin(session.id);
      takeMessage(options, stream, session, accepted.get(session.envelope) ?? []).then(
        (replies) => {
          clients.noteMessageEnd(session.id, replies.includes(null));
          const refusal = replies.find((reply) => reply !== null) ?? null;
          // With SMTP one reply covers all accounts: an account that has the message already gets it again and recognises it.
          if (protocol === 'smtp') callback(refusal, '2.0.0 recorded');
          else
            callback(
              null,
              replies.map((reply) => reply ?? '2.0.0 recorded'),
            );
        },
        (err: unknown) => {
          clients.noteMessageEnd(session.id, false);
          logger.warn({ err, protocol }, 'a delivered message could not be accepted; it is deferred');
          // The rest of the message is read and dropped, so that the client is listening when the reply arrives.
          stream.resume();
          callback(LATER);
        },
      );
    },
  }));
}

/** The recipients that were accepted, in the order of their RCPT commands. */
type Accepted = WeakMap<Envelope, string[]>;

function noteAccepted(accepted: Accepted, envelope: Envelope, address: string): void {
  const addresses = accepted.get(envelope) ?? [];
  addresses.push(address);
  accepted.set(envelope, addresses);
}

/**
 * The library keeps a repeated recipient once, and sends as many replies as it keeps recipients. Without an address, the earlier entry is no
 * longer the same as the new one; see docs/upstream.md.
 */
function keepRepeated(address: string, { rcptTo }: Envelope): void {
  const earlier = rcptTo.find((one) => one.address.toLowerCase() === address.toLowerCase());
  if (earlier !== undefined) earlier.address = '';
}

/** One entry for each recipient: null when its account has the message, else the refusal. */
async function takeMessage(
  { accountOf, protocol, take }: ListenerOptions,
  stream: SMTPServerDataStream,
  { envelope, remoteAddress, clientHostname, hostNameAppearsAs }: SMTPServerSession,
  recipients: readonly string[],
): Promise<readonly (Error | null)[]> {
  const accounts = recipients.map(accountOf);
  const sender = envelope.mailFrom === false ? '' : inAscii(envelope.mailFrom.address);
  const lines = new LineFaultFinder();
  const isRefused = () => protocol === 'smtp' && lines.end() !== null;
  const recorded = await take({
    accountIds: [...new Set(accounts.filter((id) => id !== null))],
    mailFrom: sender === '' ? null : sender,
    protocol,
    client: { address: remoteAddress, helo: hostNameAppearsAs || clientHostname },
    source: withinLimit(stream, lines),
    isWhole: () => !stream.sizeExceeded && !isRefused(),
  });
  const refusal = isRefused() ? BAD_LINES : LATER;
  return accounts.map((id) => (id !== null && recorded.has(id) ? null : refusal));
}

/** Parameters of the extensions that EHLO lists: RFC 1870, 6152, 6531 and 8689. */
const MAIL_PARAMETERS: ReadonlySet<string> = new Set(['SIZE', 'BODY', 'SMTPUTF8', 'REQUIRETLS']);
