/** GET /metrics on an address of its own, for Prometheus alone: it answers even while the API has no room, and needs no secret. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Logger } from '../../platform/base/basics.ts';
import type { Metrics } from './metrics.ts';

/** Scrapes at the same time; a Prometheus keeps one connection. */
const MAX_CONNECTIONS = 20;
/** Time limit for the header of a request, in ms. */
const HEADER_MS = 10_000;

export interface MetricsServer {
  /** As bound. */
  readonly host: string;
  readonly port: number;
  close(): Promise<void>;
}

/** Throws the system's error when it can't listen. */
export async function startMetricsServer(
  metrics: Pick<Metrics, 'read'>,
  { host, port }: { readonly host: string; readonly port: number },
  logger: Logger,
): Promise<MetricsServer> {
  const server = createServer(
    { headersTimeout: HEADER_MS, requestTimeout: HEADER_MS, connectionsCheckingInterval: HEADER_MS },
    (request, response) => {
      answer(metrics, request, response).catch((err: unknown) => {
        logger.error({ err }, 'metrics could not be served');
        response.writeHead(500).end();
      });
    },
  );
  server.maxConnections = MAX_CONNECTIONS;
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => {
      server.removeListener('error', reject);
      resolve();
    });
  });
  const bound = server.address() as AddressInfo;
  return {
    host: bound.address,
    port: bound.port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function answer(
  metrics: Pick<Metrics, 'read'>,
  { method, url }: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  response.setHeader('x-content-type-options', 'nosniff');
  response.setHeader('cache-control', 'no-store');
  if (url?.split('?', 1)[0] !== '/metrics') {
    response.writeHead(404).end();
    return;
  }
  if (method !== 'GET' && method !== 'HEAD') {
    response.writeHead(405, { allow: 'GET, HEAD' }).end();
    return;
  }
  const { contentType, text } = await metrics.read();
  response.writeHead(200, { 'content-type': contentType });
  response.end(method === 'HEAD' ? undefined : text);
}
