/**
 * Listens for received mail by LMTP (RFC 2033) or SMTP (RFC 5321), for a mail server on the same machine or network.
 * It relays nothing, asks for no login and writes no trace fields. 250 is said when the message is recorded, 451 while
 * that is not possible; by LMTP for each recipient.
 */
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { SMTPServer, type SMTPServerDataStream, type SMTPServerSession } from 'smtp-server';
import type { Logger } from '../../app/ports.ts';
import type { Delivery } from '../../app/take-delivery.ts';
import { MAX_CLIENTS, MAX_RECIPIENTS, SOCKET_TIMEOUT_MS } from './limits.ts';

export interface ListenerOptions {
  readonly protocol: 'lmtp' | 'smtp';
  readonly host: string;
  /** 0 picks a free one. */
  readonly port: number;
  /** PEM; null: no STARTTLS. */
  readonly tls: { readonly cert: string; readonly key: string } | null;
  readonly maxBytes: number;
  /** How long clients may finish when it is closed, in ms. */
  readonly closeTimeoutMs: number;
  /** null: nobody's. */
  readonly accountOf: (address: string) => string | null;
  /** See takeDelivery. */
  readonly take: (delivery: Delivery) => Promise<ReadonlySet<string>>;
  readonly logger: Logger;
}

export interface Listener {
  /** Such as `127.0.0.1:2424`. */
  readonly address: string;
  /** Takes no more clients, lets those finish that are there, and cuts them off after the time. */
  close(): Promise<void>;
}

/** Throws when it can't listen. */
export async function startListener(options: ListenerOptions): Promise<Listener> {
  const { protocol, tls, logger } = options;
  const server = new SMTPServer({
    lmtp: protocol === 'lmtp',
    size: options.maxBytes,
    rejectOversized: true,
    authOptional: true,
    disabledCommands: tls === null ? ['AUTH', 'STARTTLS'] : ['AUTH'],
    ...tls,
    disableReverseLookup: true,
    hideDSN: true,
    maxClients: MAX_CLIENTS,
    socketTimeout: SOCKET_TIMEOUT_MS,
    closeTimeout: options.closeTimeoutMs,
    logger: false,
    onRcptTo({ address }, session, callback) {
      if (options.accountOf(address) === null) callback(failure(550, '5.1.1 no such address here'));
      else if (session.envelope.rcptTo.length >= MAX_RECIPIENTS) callback(failure(452, '4.5.3 too many'));
      else callback();
    },
    onData(stream, session, callback) {
      takeMessage(options, stream, session).then(
        (replies) => {
          const refusal = replies.find((reply) => reply !== null) ?? null;
          // By SMTP one reply stands for all: who has the message already gets it again, and knows it.
          if (protocol === 'smtp') callback(refusal, '2.0.0 recorded');
          else
            callback(
              null,
              replies.map((reply) => reply ?? '2.0.0 recorded'),
            );
        },
        (err: unknown) => {
          logger.warn({ err, protocol }, 'a delivered message could not be taken; it is put off');
          // What is left of the message is read away, so that the reply finds the client listening.
          stream.resume();
          callback(LATER);
        },
      );
    },
  });
  // Clients that hang up are no news.
  server.on('error', (err) => logger.debug({ err, protocol }, 'a client of the listener failed'));
  const listening = server.listen(options.port, options.host);
  await once(listening, 'listening');
  const { address, port } = listening.address() as AddressInfo;
  return {
    address: address.includes(':') ? `[${address}]:${port}` : `${address}:${port}`,
    close: () => new Promise((resolve) => server.close(resolve)),
  };
}

/** For each recipient null when its account has the message, else the refusal. */
async function takeMessage(
  { accountOf, take }: ListenerOptions,
  stream: SMTPServerDataStream,
  { envelope }: SMTPServerSession,
): Promise<readonly (Error | null)[]> {
  const accounts = envelope.rcptTo.map(({ address }) => accountOf(address));
  const sender = envelope.mailFrom === false ? '' : envelope.mailFrom.address;
  const recorded = await take({
    accountIds: [...new Set(accounts.filter((id) => id !== null))],
    mailFrom: sender === '' ? null : sender,
    source: withinLimit(stream),
    isWhole: () => !stream.sizeExceeded,
  });
  return accounts.map((id) => (id !== null && recorded.has(id) ? null : LATER));
}

/** What is beyond the limit is read away, so that the client gets to hear of it. */
async function* withinLimit(stream: SMTPServerDataStream): AsyncGenerator<Buffer> {
  const chunks = stream.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>;
  for await (const chunk of chunks) if (!stream.sizeExceeded) yield chunk;
}

function failure(responseCode: number, message: string): Error {
  return Object.assign(new Error(message), { responseCode });
}

const LATER = failure(451, '4.3.0 can not be recorded now, try again later');
