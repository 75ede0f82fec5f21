/** For servers that can't be given port 0. */
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';

export async function findFreePort(): Promise<number> {
  const server = createServer();
  const port = await new Promise<number>((resolve) => {
    server.listen(0, '127.0.0.1', () => resolve((server.address() as AddressInfo).port));
  });
  await new Promise((resolve) => server.close(resolve));
  return port;
}
