/** smtp-server, a real SMTP server in this process, which keeps the messages it takes. */
import type { AddressInfo } from 'node:net';
import { SMTPServer, type SMTPServerOptions } from 'smtp-server';

/** A message as the server received it. */
interface TakenMessage {
  readonly mailFrom: string;
  readonly mailArguments: unknown;
  readonly rcptTo: readonly string[];
  readonly data: Buffer;
  readonly secure: boolean;
  readonly user: string | undefined;
}

/** The password of the only login that the server accepts: user alice. */
export const PASSWORD = 'hush: ü@/';

export interface RealSmtpServer {
  readonly port: number;
  readonly taken: readonly TakenMessage[];
  close(): Promise<void>;
}

/**
 * Recipients whose address starts with `u` are refused with 550, those with `f` with 452. Offers neither STARTTLS nor AUTH unless
 * `disabledCommands` says otherwise.
 */
export async function startRealSmtpServer(options: SMTPServerOptions = {}): Promise<RealSmtpServer> {
  const taken: TakenMessage[] = [];
  const server = new SMTPServer({
    authOptional: true,
    disableReverseLookup: true,
    size: 50_000_000,
    disabledCommands: ['STARTTLS', 'AUTH'],
    onAuth: ({ username, password }, _, done) => {
      if (username === 'alice' && password === PASSWORD) done(null, { user: username });
      else done(new Error('Invalid username or password'));
    },
    onRcptTo: ({ address }, _, done) => {
      const code = { u: 550, f: 452 }[address[0]!];
      done(code === undefined ? null : Object.assign(new Error('5.1.1 Not here'), { responseCode: code }));
    },
    onData: (stream, session, done) => {
      const chunks: Buffer[] = [];
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      stream.on('end', () => {
        const { mailFrom, rcptTo } = session.envelope;
        if (mailFrom === false) throw new Error('no sender');
        taken.push({
          mailFrom: mailFrom.address,
          mailArguments: mailFrom.args,
          rcptTo: rcptTo.map(({ address }) => address),
          data: Buffer.concat(chunks),
          secure: session.secure,
          user: session.user,
        });
        done();
      });
    },
    ...options,
  });
  server.on('error', () => {});
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  return {
    port: (server.server.address() as AddressInfo).port,
    taken,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
      }),
  };
}
