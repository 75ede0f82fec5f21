/**
 * Listens for received mail by LMTP (RFC 2033) or SMTP (RFC 5321), from a mail server on the same machine or network. It relays nothing,
 * asks for no login and writes no trace fields. It replies 250 once the message is recorded, and 451 while it can't be; with LMTP for each
 * accepted RCPT, repeated ones too (RFC 2033 §4.2).
 *
 * By SMTP, a message with bare CR, bare LF or NUL is refused for good, as Postfix and Exim do: its client can't be trusted to mean one message.
 * By LMTP it is kept: a mail server of ours took it from its sender, who would get a bounce, or nothing. A command with one of these is refused
 * by either protocol (strict-server.ts), and only CRLF.CRLF ends a message.
 */
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import type { SMTPServerDataStream, SMTPServerSession } from 'smtp-server';
import type { Logger } from '../../platform/base/basics.ts';
import type { SecurityLog } from '../../platform/base/security-log.ts';
import { MIN_TLS_VERSION, type CertificateSource } from '../../platform/base/tls.ts';
import type { Delivery } from '../../areas/receive/take-delivery.ts';
import { addressGroup } from '../../core/edge/address-group.ts';
import { toAsciiDomain } from '../../core/address/domain.ts';
import { isWorthTelling, WindowCounts } from '../../core/edge/window-counts.ts';
import { ClientLimits, type CutReason } from './client-limits.ts';
import { LineFaultFinder } from './line-fault.ts';
import {
  CHECK_MS,
  MAX_COUNTED_ADDRESSES,
  MAX_RECIPIENTS,
  REFUSAL_WINDOW_MS,
  SOCKET_TIMEOUT_MS,
  UNGREETED_FACTOR,
} from './limits.ts';
import { StrictServer } from './strict-server.ts';

export interface ListenerOptions {
  readonly protocol: 'lmtp' | 'smtp';
  readonly host: string;
  /** 0 picks a free port. */
  readonly port: number;
  /** null: no STARTTLS. */
  readonly certificate: CertificateSource | null;
  readonly maxBytes: number;
  /** Connections at the same moment; 1 or more. Beyond it the connection that was idle longest is cut off. */
  readonly maxClients: number;
  /** Connections from one address, or one IPv6 network of 64 bits. */
  readonly maxClientsPerAddress: number;
  /** How long clients may take to finish when the listener closes, in ms. */
  readonly closeTimeoutMs: number;
  /** null: the address belongs to no account. */
  readonly accountOf: (address: string) => string | null;
  /** See takeDelivery. */
  readonly take: (delivery: Delivery) => Promise<ReadonlySet<string>>;
  readonly logger: Logger;
  readonly security: SecurityLog;
}

export interface Listener {
  /** Such as `127.0.0.1:2424`. */
  readonly address: string;
  /** The host part of `address`. */
  readonly host: string;
  /** Accepts no more clients, lets connected ones finish, and cuts them off after the time. */
  close(): Promise<void>;
}

/** Throws when it can't listen. */
export async function startListener(options: ListenerOptions): Promise<Listener> {
  const { protocol, certificate, logger } = options;
  const clients = new ClientLimits({
    ...options,
    now: () => performance.now(),
    cutOff(id, reason, address) {
      tell('mail_client.cut_off', reason, address);
      // This may be called in the middle of a command, whose handling continues afterwards.
      for (const connection of server.connections) {
        if (connection.id === id) connection.send(421, CUT_TEXTS[reason]);
      }
    },
  });
  const counts = new WindowCounts({ windowMs: REFUSAL_WINDOW_MS, maxKeys: MAX_COUNTED_ADDRESSES });
  const tell = (event: 'mail_client.refused' | 'mail_client.cut_off', reason: string, address: string) => {
    const { count } = counts.add(`${event} ${reason} ${address}`, performance.now());
    if (isWorthTelling(count)) options.security.note(event, { protocol, address, reason, count });
  };
  /** Connection → its last command. */
  const commands = new Map<string, string>();
  const accepted: Accepted = new WeakMap();
  const server: StrictServer = new StrictServer({
    lmtp: protocol === 'lmtp',
    size: options.maxBytes,
    rejectOversized: true,
    authOptional: true,
    disabledCommands: certificate === null ? ['AUTH', 'STARTTLS'] : ['AUTH'],
    ...certificate?.current,
    minVersion: MIN_TLS_VERSION,
    disableReverseLookup: true,
    hideDSN: true,
    maxClients: options.maxClients * UNGREETED_FACTOR,
    socketTimeout: SOCKET_TIMEOUT_MS,
    closeTimeout: options.closeTimeoutMs,
    logger: watchCommands(clients, (id, command) => commands.set(id, command)),
    onConnect({ id, remoteAddress }, callback) {
      const refusal = clients.connect(id, remoteAddress);
      if (refusal === null) callback();
      else {
        tell('mail_client.refused', refusal, addressGroup(remoteAddress));
        callback(failure(421, '4.7.0 too many connections, try again later'));
      }
    },
    onClose({ id }) {
      commands.delete(id);
      clients.disconnect(id);
    },
    onMailFrom({ args }, { id }, callback) {
      const unknown = Object.keys(args || {}).some((name) => !MAIL_PARAMETERS.has(name));
      if (unknown) callback(UNKNOWN_PARAMETER);
      else callback(isForeign(commands.get(id), args) ? NOT_ASCII : null);
    },
    onRcptTo({ address, args }, { id, envelope }, callback) {
      // No extension that EHLO lists has a parameter for recipients.
      if (Object.keys(args || {}).length > 0) callback(UNKNOWN_PARAMETER);
      else if (isForeign(commands.get(id), envelope.mailFrom && envelope.mailFrom.args)) callback(NOT_ASCII);
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
  });
  // Clients that hang up are not worth reporting.
  server.on('error', (err) => logger.debug({ err, protocol }, 'a client of the listener failed'));
  const listening = server.listen(options.port, options.host);
  await once(listening, 'listening');
  const { address, port } = listening.address() as AddressInfo;
  const stopFollowing = certificate?.follow(({ cert, key }) => server.updateSecureContext({ cert, key }));
  const checks = setInterval(() => clients.checkTimes(), CHECK_MS);
  return {
    host: address,
    address: address.includes(':') ? `[${address}]:${port}` : `${address}:${port}`,
    close: () => {
      clearInterval(checks);
      stopFollowing?.();
      return new Promise((resolve) => server.close(resolve));
    },
  };
}

const CUT_TEXTS: Readonly<Record<CutReason, string>> = {
  errors: '4.7.0 too many errors',
  commands: '4.7.0 too many commands without a message',
  no_message: '4.4.2 no message for too long',
  slow_message: '4.4.2 the message takes too long',
  makes_room: '4.3.2 others wait for this connection',
};

/** The library reports every command, before it handles it, and every reply to its logger. */
function watchCommands(clients: ClientLimits, onCommand: (id: string, command: string) => void) {
  const nothing = (): void => {};
  return {
    debug(entry: { readonly tnx?: string; readonly cid?: string }, _format: string, text?: unknown) {
      const { tnx, cid } = entry;
      if (cid === undefined) return;
      if (tnx === 'command') {
        onCommand(cid, String(text));
        clients.noteCommand(cid);
      } else if (tnx === 'send' && /^5\d\d/.test(String(text))) clients.noteError(cid);
    },
    trace: nothing,
    info: nothing,
    warn: nothing,
    error: nothing,
    fatal: nothing,
  };
}

type Envelope = SMTPServerSession['envelope'];
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

/** RFC 6531 §3.3: only SMTPUTF8 allows other characters than ASCII in the envelope. The library shows A-labels as Unicode. */
function isForeign(command: string | undefined, args: object | false): boolean {
  return /[^\u0000-\u007f]/.test(command ?? '') && !('SMTPUTF8' in (args || {}));
}

/** The address with its domain in A-labels. */
function inAscii(address: string): string {
  const at = address.lastIndexOf('@');
  return at === -1
    ? address
    : address.slice(0, at + 1) + (toAsciiDomain(address.slice(at + 1)) ?? address.slice(at + 1));
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

/** Bytes beyond the limit are read and dropped, so that the client receives the refusal. */
async function* withinLimit(stream: SMTPServerDataStream, lines: LineFaultFinder): AsyncGenerator<Buffer> {
  const chunks = stream.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>;
  for await (const chunk of chunks) {
    if (stream.sizeExceeded) continue;
    lines.write(chunk);
    yield chunk;
  }
}

function failure(responseCode: number, message: string): Error {
  return Object.assign(new Error(message), { responseCode });
}

/** Parameters of the extensions that EHLO lists: RFC 1870, 6152, 6531 and 8689. */
const MAIL_PARAMETERS: ReadonlySet<string> = new Set(['SIZE', 'BODY', 'SMTPUTF8', 'REQUIRETLS']);
// RFC 5321 §4.1.1.11: a client must be told when a parameter that it requests is not supported.
const UNKNOWN_PARAMETER = failure(555, '5.5.4 this parameter is not known');

// RFC 6531 §3.5
const NOT_ASCII = failure(553, '5.6.7 this address needs SMTPUTF8');

const BAD_LINES = failure(550, '5.6.0 bare CR, bare LF or NUL in the message');

const LATER = failure(451, '4.3.0 can not be recorded now, try again later');
