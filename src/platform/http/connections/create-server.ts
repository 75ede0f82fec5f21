/** The server below the HTTP edge: plain, or with TLS and a certificate that may be renewed. */
import { createServer as createHttpServer, type RequestListener, type Server } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import { MIN_TLS_VERSION, type CertificateSource } from '../../base/tls.ts';
import type { HttpLimits } from './limits.ts';

/** How often Node.js checks for requests that take too long, in ms. */
const CHECK_MS = 5000;

/** @param tls null: plain */
export function createServer(
  limits: HttpLimits,
  tls: CertificateSource | null,
  handler: RequestListener,
): Server {
  const options = {
    headersTimeout: limits.headersTimeoutMs,
    requestTimeout: limits.requestTimeoutMs,
    keepAliveTimeout: limits.keepAliveTimeoutMs,
    maxHeaderSize: limits.maxHeaderBytes,
    connectionsCheckingInterval: Math.min(limits.headersTimeoutMs, CHECK_MS),
    // Node.js would answer without a body; our hook checks the Host header.
    requireHostHeader: false,
  };
  if (tls === null) return withHeaderLimit(createHttpServer(options, handler), limits);
  const server = createHttpsServer(
    {
      ...options,
      ...tls.current,
      minVersion: MIN_TLS_VERSION,
      // RFC 7301; HTTP/2 is left to a proxy.
      ALPNProtocols: ['http/1.1'],
      handshakeTimeout: limits.handshakeTimeoutMs,
    },
    handler,
  );
  // Open connections keep their certificate.
  const stop = tls.follow(({ cert, key }) =>
    server.setSecureContext({ cert, key, minVersion: MIN_TLS_VERSION }),
  );
  server.once('close', stop);
  return withHeaderLimit(server, limits);
}

/** Node.js silently drops header fields beyond its limit: one more field shows that there were too many (framing-fault.ts). */
function withHeaderLimit<S extends Server>(server: S, { maxHeaders }: HttpLimits): S {
  server.maxHeadersCount = maxHeaders + 1;
  return server;
}
