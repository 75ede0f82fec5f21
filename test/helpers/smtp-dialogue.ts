/** An SMTP client that writes exactly the given bytes, below TLS or not. */
import { connect as connectPlain, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';

export interface Dialogue {
  readonly greeting: string;
  /** Writes the bytes, and returns the whole reply. */
  ask(bytes: string | Buffer): Promise<string>;
  /** Everything from here on until the server ends the connection. */
  rest(): Promise<string>;
  write(bytes: string): void;
  end(): void;
}

/** The last line of a reply (RFC 5321 §4.2.1). */
const LAST_LINE = /(?:^|\r\n)\d{3}(?: [^\r\n]*)?\r\n$/;

/** @param ca null: without TLS */
export async function openDialogue(port: number, ca: string | null): Promise<Dialogue> {
  const socket: Socket =
    ca === null
      ? connectPlain({ port, host: '127.0.0.1' })
      : connectTls({ port, host: '127.0.0.1', servername: 'localhost', ca });
  let received = '';
  let isOver = false;
  /** Called whenever something has happened. */
  let look = (): void => undefined;
  socket.on('data', (piece: Buffer) => {
    received += piece.toString('latin1');
    look();
  });
  socket.on('error', () => undefined);
  socket.on('close', () => {
    isOver = true;
    look();
  });
  const until = (isEnough: () => boolean) =>
    new Promise<void>((resolve) => {
      look = () => {
        if (isEnough()) resolve();
      };
      look();
    });
  const reply = async (): Promise<string> => {
    await until(() => isOver || LAST_LINE.test(received));
    return received.trim();
  };
  return {
    greeting: await reply(),
    async ask(bytes) {
      received = '';
      socket.write(bytes);
      return await reply();
    },
    async rest() {
      await until(() => isOver);
      return received;
    },
    write: (bytes) => void socket.write(bytes),
    end: () => void socket.end(),
  };
}

/** The argument of AUTH PLAIN (RFC 4616). */
export const plainLogin = (password: string, user = 'the shop'): string =>
  Buffer.from(`\0${user}\0${password}`).toString('base64');
