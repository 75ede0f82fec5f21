/** Stands between an IMAP client and its server, to observe the bytes that pass, and to stop them at a certain byte. */
import { createServer, connect, type AddressInfo, type Socket } from 'node:net';

export interface ImapProxyOptions {
  /** Returns the bytes to pass on; null: nothing more passes in that direction of the connection. */
  readonly fromClient?: (chunk: Buffer) => Buffer | null;
  readonly fromServer?: (chunk: Buffer) => Buffer | null;
}

export interface ImapProxy {
  /** The URL of a server, rewritten to go through the proxy. */
  through(url: string): string;
  /** Number of connections made so far. */
  readonly connections: number;
  /** Cuts every connection. */
  cut(): void;
  stop(): Promise<void>;
}

/** @param options may be changed between two connections */
export async function startImapProxy(port: number, options: () => ImapProxyOptions): Promise<ImapProxy> {
  const sockets = new Set<Socket>();
  let connections = 0;
  const server = createServer((client) => {
    connections += 1;
    const upstream = connect(port, '127.0.0.1');
    const { fromClient, fromServer } = options();
    const lead = (from: Socket, to: Socket, look: ImapProxyOptions['fromClient']) => {
      let isHeld = false;
      sockets.add(from);
      from.on('data', (chunk) => {
        if (isHeld) return;
        const passed = look === undefined ? chunk : look(chunk);
        isHeld = passed === null;
        if (passed !== null) to.write(passed);
      });
      from.on('close', () => {
        sockets.delete(from);
        to.end();
      });
      from.on('error', () => to.destroy());
    };
    lead(client, upstream, fromClient);
    lead(upstream, client, fromServer);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const own = (server.address() as AddressInfo).port;
  const cut = () => {
    for (const socket of sockets) socket.destroy();
  };
  return {
    through: (url) => url.replace(`:${port}`, `:${own}`),
    get connections() {
      return connections;
    },
    cut,
    async stop() {
      cut();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
