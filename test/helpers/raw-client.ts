/** A TCP client that sends exactly the given bytes, for HTTP that no library would send. */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

export interface RawClient {
  readonly socket: Socket;
  /** Everything received so far, one character per byte. */
  received(): string;
  /** Waits until the kernel has taken the data. */
  write(text: string | Buffer): Promise<void>;
  /** Resolves when the text was received; rejects if the connection ends before that. */
  receive(text: string | RegExp): Promise<string>;
  /** Everything up to the end of the connection, whichever side ended it. */
  closed(): Promise<string>;
}

export async function connectRaw(
  port: number,
  from: { readonly localAddress?: string } = {},
): Promise<RawClient> {
  const socket = connect({ port, host: '127.0.0.1', ...from });
  const pieces: Buffer[] = [];
  const received = () => Buffer.concat(pieces).toString('latin1');
  socket.on('data', (piece) => pieces.push(piece));
  // A reset is one way to end; only the received data counts.
  socket.on('error', () => {});
  const end = new Promise<void>((resolve) => socket.once('close', () => resolve()));
  await once(socket, 'connect');
  return {
    socket,
    received,
    write: (text) =>
      new Promise((resolve) => {
        socket.write(text, () => resolve());
      }),
    receive: (text) =>
      new Promise((resolve, reject) => {
        const look = (): void => {
          const all = received();
          if (typeof text === 'string' ? !all.includes(text) : !text.test(all)) return;
          socket.off('data', look);
          resolve(all);
        };
        socket.on('data', look);
        void end.then(() => reject(new Error(`connection ended after: ${received().slice(0, 500)}`)));
        look();
      }),
    closed: async () => {
      await end;
      return received();
    },
  };
}
