/** What the listeners for mail clients have in common: the server, its limits, its log and its end. */
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import type { SMTPServerOptions, SMTPServerSession } from 'smtp-server';
import { toAsciiDomain } from '../../core/address/domain.ts';
import { addressGroup } from '../../core/edge/address-group.ts';
import { isWorthTelling, WindowCounts } from '../../core/edge/window-counts.ts';
import type { Logger } from '../../platform/base/basics.ts';
import type { SecurityLog } from '../../platform/base/security-log.ts';
import { MIN_TLS_VERSION, type CertificateSource } from '../../platform/base/tls.ts';
import { ClientLimits, type CutReason } from './client-limits.ts';
import {
  CHECK_MS,
  MAX_COUNTED_ADDRESSES,
  REFUSAL_WINDOW_MS,
  SOCKET_TIMEOUT_MS,
  UNGREETED_FACTOR,
} from './limits.ts';
import { StrictServer } from './strict-server.ts';

export interface ServerOptions {
  /** `submissions` begins with TLS (RFC 8314). */
  readonly protocol: 'lmtp' | 'smtp' | 'submission' | 'submissions';
  readonly host: string;
  /** 0 picks a free port. */
  readonly port: number;
  /** null: no TLS. */
  readonly certificate: CertificateSource | null;
  readonly maxBytes: number;
  /** Connections at the same moment; 1 or more. Beyond it the connection that was idle longest is cut off. */
  readonly maxClients: number;
  /** Connections from one address, or one IPv6 network of 64 bits. */
  readonly maxClientsPerAddress: number;
  /** How long clients may take to finish when the listener closes, in ms. */
  readonly closeTimeoutMs: number;
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

/** What a door decides itself. */
export type Door = Pick<
  SMTPServerOptions,
  | 'authMethods'
  | 'authOptional'
  | 'authRequiredMessage'
  | 'disabledCommands'
  | 'hideENHANCEDSTATUSCODES'
  | 'lmtp'
  | 'onAuth'
  | 'onData'
  | 'onMailFrom'
  | 'onRcptTo'
  | 'secure'
>;

export interface DoorParts {
  readonly clients: ClientLimits;
  /** The last command of the connection. */
  readonly lastCommand: (id: string) => string | undefined;
}

/** Throws when it can't listen. */
export async function openServer(
  options: ServerOptions,
  toDoor: (parts: DoorParts) => Door,
): Promise<Listener> {
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
  const server: StrictServer = new StrictServer(
    {
      size: options.maxBytes,
      rejectOversized: true,
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
      ...toDoor({ clients, lastCommand: (id) => commands.get(id) }),
    },
    options.maxClientsPerAddress,
  );
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

export type Envelope = SMTPServerSession['envelope'];

/** RFC 6531 §3.3: only SMTPUTF8 allows other characters than ASCII in the envelope. The library shows A-labels as Unicode. */
export function isForeign(command: string | undefined, args: object | false): boolean {
  return /[^\u0000-\u007f]/.test(command ?? '') && !('SMTPUTF8' in (args || {}));
}

/** The address with its domain in A-labels. */
export function inAscii(address: string): string {
  const at = address.lastIndexOf('@');
  return at === -1
    ? address
    : address.slice(0, at + 1) + (toAsciiDomain(address.slice(at + 1)) ?? address.slice(at + 1));
}

export function failure(responseCode: number, message: string): Error {
  return Object.assign(new Error(message), { responseCode });
}

// RFC 5321 §4.1.1.11: a client must be told when a parameter that it requests is not supported.
export const UNKNOWN_PARAMETER = failure(555, '5.5.4 this parameter is not known');

// RFC 6531 §3.5
export const NOT_ASCII = failure(553, '5.6.7 this address needs SMTPUTF8');

export const BAD_LINES = failure(550, '5.6.0 bare CR, bare LF or NUL in the message');

export const LATER = failure(451, '4.3.0 can not be recorded now, try again later');
