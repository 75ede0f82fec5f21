/**
 * Finds requests whose beginning or end a proxy in front may see elsewhere, or of which Node.js passes on only a part. They are refused
 * before anything else of them is read, and nothing that follows on their connection is a request.
 */
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { invalidRequest, ServiceError } from '../../../core/errors.ts';

/** Checks that a request is framed so that every reader sees the same one, and remembers faults by connection. */
export class Framing {
  readonly #maxHeaders: number;
  /** Connections that had a request of unclear length: the apparent next one may be a part of it (RFC 9112 §11.2). */
  readonly #lost = new WeakMap<Socket, ServiceError>();

  /** @param maxHeaders Node.js must be set to pass one more on, or a longer list looks like one of this length. */
  constructor(maxHeaders: number) {
    this.#maxHeaders = maxHeaders;
  }

  /** The error to answer with before closing the connection; null when the framing is sound. */
  faultOf(request: IncomingMessage): ServiceError | null {
    const { socket } = request;
    const fault = this.#lost.get(socket) ?? this.#find(request);
    if (fault !== null) this.#lost.set(socket, fault);
    return fault;
  }

  #find({ headers, rawHeaders, httpVersion }: IncomingMessage): ServiceError | null {
    // Names and values alternate.
    if (rawHeaders.length / 2 > this.#maxHeaders) return new ServiceError('headers_too_large');
    const coding = headers['transfer-encoding'];
    if (coding === undefined) return null;
    // RFC 9112 §6.1: HTTP before 1.1 has no chunks, so a proxy added them, or took them for something else.
    if (httpVersion !== '1.1') return invalidRequest('chunks_in_old_http');
    // RFC 9112 §6.1: an unknown coding. A compressed body would be taken as it is.
    return coding.trim().toLowerCase() === 'chunked' ? null : new ServiceError('unsupported_transfer_coding');
  }
}
