/** A web server of a sender, on this machine, with images; and the environment of a service that reaches it by public names. */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';

/** For services: names that end in `.example` lead here, all others nowhere. */
export const PUBLIC_NAMES = {
  NODE_OPTIONS: `--import ${fileURLToPath(new URL('public-names.mjs', import.meta.url))}`,
};

export interface ImageServer {
  /** Begins with `http://images.example:`. */
  readonly url: string;
  readonly port: number;
  readonly requests: IncomingMessage[];
  /** Paths of the requests so far. */
  paths(): (string | undefined)[];
  close(): void;
}

export async function startImageServer(answer: RequestListener): Promise<ImageServer> {
  const requests: IncomingMessage[] = [];
  const server = createServer((request, response) => {
    requests.push(request);
    answer(request, response);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://images.example:${port}`,
    port,
    requests,
    paths: () => requests.map(({ url }) => url),
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}
