/**
 * Requests whose beginning or end a proxy in front may see elsewhere, or of which Node.js passes on only a part. They are
 * refused before anything else is read of them, and nothing that follows on their connection is a request.
 */
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { invalidRequest, ServiceError } from '../../../core/errors.ts';

/** Whether a request is framed so that every reader sees the same one, by the connection that it came on. */
export class Framing {
  readonly #maxHeaders: number;
  /** Connections that had a request of unclear length: what looks like the next one may be a part of it (RFC 9112 §11.2). */
  readonly #lost = new WeakMap<Socket, ServiceError>();

  /** @param maxHeaders Node.js has to be told to pass one more on, or a longer list looks like one of this length. */
  constructor(maxHeaders: number) {
    this.#maxHeaders = maxHeaders;
  }

  /** What to answer with, and to close the connection behind; null when all is well. */
  faultOf(request: IncomingMessage): ServiceError | null {
    const { socket } = request;
    const fault = this.#lost.get(socket) ?? this.#find(request);
    if (fault !== null) this.#lost.set(socket, fault);
    return fault;
  }

  #find({ headers, rawHeaders, httpVersion }: IncomingMessage): ServiceError | null {
    // Names and values in turn.
    if (rawHeaders.length / 2 > this.#maxHeaders) return new ServiceError('headers_too_large');
    const coding = headers['transfer-encoding'];
    if (coding === undefined) return null;
    // RFC 9112 §6.1: its sender knows no chunks, so a proxy put them there, or took them for something else.
    if (httpVersion !== '1.1') return invalidRequest('chunks_in_old_http');
    // RFC 9112 §6.1: a coding that is not known. A body that is compressed would be taken as it is.
    return coding.trim().toLowerCase() === 'chunked' ? null : new ServiceError('unsupported_transfer_coding');
  }
}
