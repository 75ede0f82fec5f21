/** For servers that can't be given port 0. */
import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';

/**
 * Below the ports that the system gives to connections and to port 0, hundreds of which are in use at any moment of a run: one of them
 * would take the port before its server does. Above 10080, a port that no browser connects to.
 */
const [FIRST_PORT, END] = [11_000, 32_768];

export async function findFreePort(): Promise<number> {
  for (;;) {
    const port = randomInt(FIRST_PORT, END);
    if (await isFree(port)) return port;
  }
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer();
  const isListening = await new Promise<boolean>((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) =>
      error.code === 'EADDRINUSE' || error.code === 'EACCES' ? resolve(false) : reject(error),
    );
    server.listen(port, '127.0.0.1', () => resolve(true));
  });
  if (isListening) await new Promise((resolve) => server.close(resolve));
  return isListening;
}
