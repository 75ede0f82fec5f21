/** A real SMTP server (smtp-server) that keeps the messages it accepts, and refuses those that a test selects. */
import { SMTPServer, type SMTPServerOptions } from 'smtp-server';
import type { AddressInfo } from 'node:net';

export interface SinkMessage {
  readonly mailFrom: string;
  readonly rcptTo: readonly string[];
  /** Parameters of MAIL; those without a value are true. */
  readonly mailArguments?: object;
  /** As received, dots unstuffed. */
  readonly raw: Buffer;
}

export interface SmtpSink {
  /** For `SMTP_URL`. */
  readonly url: string;
  readonly messages: readonly SinkMessage[];
  /** Messages with that Message-ID header, brackets included. */
  byMessageId(messageId: string): readonly SinkMessage[];
  stop(): Promise<void>;
}

/** Recipients: `…@refused.test` → 550, `…@later.test` → 451, all others accepted. Subjects: `[refuse]` → 554 after DATA. */
export async function startSmtpSink(
  options: SMTPServerOptions = {},
  /** Called for each message before it is answered. */
  onMessage: (message: SinkMessage) => void = () => undefined,
): Promise<SmtpSink> {
  const messages: SinkMessage[] = [];
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS', 'AUTH'],
    disableReverseLookup: true,
    onRcptTo(address, _session, callback) {
      const domain = address.address.split('@').at(-1);
      if (domain === 'refused.test') return callback(smtpError(550, '5.1.1 no such user'));
      if (domain === 'later.test') return callback(smtpError(451, '4.7.1 try again later'));
      callback();
    },
    onData(stream, session, callback) {
      const chunks: Buffer[] = [];
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      stream.on('end', () => {
        const raw = Buffer.concat(chunks);
        if (/^Subject: .*\[refuse\]/im.test(raw.toString('latin1'))) {
          callback(smtpError(554, '5.7.1 content refused'));
          return;
        }
        const mailFrom = session.envelope.mailFrom;
        const message: SinkMessage = {
          mailFrom: mailFrom === false ? '' : mailFrom.address,
          rcptTo: session.envelope.rcptTo.map((rcpt) => rcpt.address),
          mailArguments: (mailFrom !== false && mailFrom.args) || {},
          raw,
        };
        messages.push(message);
        onMessage(message);
        callback(null, '2.0.0 queued');
      });
    },
    ...options,
  });
  server.on('error', () => undefined); // clients that hang up are part of the tests
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const { port } = server.server.address() as AddressInfo;
  return {
    url: `smtp://127.0.0.1:${port}`,
    messages,
    byMessageId: (messageId) =>
      messages.filter((message) => message.raw.toString('latin1').includes(`Message-ID: ${messageId}`)),
    stop: () => new Promise((resolve) => server.close(() => resolve())),
  };
}

function smtpError(responseCode: number, message: string): Error {
  return Object.assign(new Error(message), { responseCode });
}
