/** Errors of a connection before a request exists: broken HTTP, too many headers, too slow. */
import { randomUUID } from 'node:crypto';
import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { ErrorCode } from '../../../core/error-registry.ts';
import { invalidRequest, ServiceError } from '../../../core/errors.ts';
import { toErrorJson } from './error-json.ts';
import type { Handshakes } from '../connections/handshakes.ts';
import type { LingeringClose } from '../connections/lingering-close.ts';

const CODES: Readonly<Record<string, ErrorCode>> = {
  HPE_HEADER_OVERFLOW: 'headers_too_large',
  HPE_CHUNK_EXTENSIONS_OVERFLOW: 'payload_too_large',
  ERR_HTTP_REQUEST_TIMEOUT: 'request_timeout',
};

/** OpenSSL's errors for a client that begins with anything but TLS. */
const NOT_TLS: ReadonlySet<string | undefined> = new Set([
  'ERR_SSL_HTTP_REQUEST',
  'ERR_SSL_WRONG_VERSION_NUMBER',
]);

/** Creates the handler that answers on the bare socket, in the same shape as all other errors, and closes it. */
export function createClientErrorHandler(lingering: LingeringClose, handshakes: Handshakes) {
  return (error: NodeJS.ErrnoException, socket: Socket): void => {
    const below = handshakes.end(socket);
    if (below !== null) {
      // As nginx does: a client that forgot the s of https gets an explanation.
      if (NOT_TLS.has(error.code)) lingering.end(below, formatAnswer(invalidRequest('not_https')));
      else below.destroy();
      return;
    }
    // After broken HTTP each further piece that arrives is an error as well.
    if (lingering.note(socket)) return;
    if (error.code === 'ECONNRESET' || !socket.writable || isAnswering(socket)) socket.destroy();
    else lingering.end(socket, formatAnswer(toFailure(error)));
  };
}

function toFailure(error: NodeJS.ErrnoException): ServiceError {
  const code = CODES[error.code ?? ''];
  return code === undefined ? invalidRequest('not_http') : new ServiceError(code);
}

function formatAnswer(failure: ServiceError): string {
  const id = randomUUID();
  const body = JSON.stringify(toErrorJson(failure, { id }));
  return [
    `HTTP/1.1 ${failure.status} ${STATUS_CODES[failure.status] ?? ''}`,
    'Content-Type: application/json; charset=utf-8',
    `Content-Length: ${Buffer.byteLength(body)}`,
    'X-Content-Type-Options: nosniff',
    'Cache-Control: no-store',
    `X-Request-Id: ${id}`,
    'Connection: close',
    '',
    body,
  ].join('\r\n');
}

/**
 * True when an answer to an earlier request on this connection has begun: more text would end up in the middle of it. Node.js's own handler
 * checks the same field; there is no public one.
 */
function isAnswering(socket: Socket): boolean {
  const { _httpMessage: response } = socket as Socket & { _httpMessage?: { headersSent: boolean } | null };
  return response?.headersSent === true;
}
