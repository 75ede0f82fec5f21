/** Reads back by IMAP the mail that arrived in a mailbox of mail-servers.ts. */
import { ImapFlow } from 'imapflow';
import type { MailServers, MailUser } from './mail-servers.ts';

/** From SMTP's 250 to the mailbox; Postfix and Dovecot take a few ms when they are not busy. */
const ARRIVAL_TIMEOUT_MS = 15_000;

/** Header fields that mail servers put on top of a message (RFC 5321 §4.4, and those that Postfix and Dovecot add). */
const TRACE_FIELDS = new Set(['return-path', 'received', 'delivered-to', 'x-original-to']);

/**
 * The message with this Message-ID, once it is in the user's inbox; throws if it does not arrive, or if there is more than one.
 *
 * @param messageId with or without angle brackets
 * @returns the bytes as IMAP gives them: CRLF, trace headers on top
 */
export async function fetchByMessageId(
  servers: MailServers,
  user: MailUser,
  messageId: string,
): Promise<Buffer> {
  const wanted = `<${messageId.replace(/^<|>$/g, '')}>`;
  return withInbox(servers, user, async (client) => {
    const deadline = Date.now() + ARRIVAL_TIMEOUT_MS;
    for (;;) {
      const found = (await client.search({ header: { 'message-id': wanted } })) || [];
      if (found.length > 1) throw new Error(`${found.length} copies of ${wanted}`);
      const [number] = found;
      if (number !== undefined) {
        const message = await client.fetchOne(String(number), { source: true });
        if (message === false || message.source === undefined) throw new Error(`${wanted} has no source`);
        return message.source;
      }
      if (Date.now() > deadline) throw new Error(`${wanted} did not arrive\n${await servers.readLog()}`);
      await new Promise((resolve) => setTimeout(resolve, 20));
      await client.noop();
    }
  });
}

/** The number of messages in the user's inbox now. */
export function countMessages(servers: MailServers, user: MailUser): Promise<number> {
  return withInbox(servers, user, async (client) => ((await client.search({ all: true })) || []).length);
}

/** The message without the trace headers on top: the bytes that the sender handed over. */
export function stripTraceHeaders(received: Buffer): Buffer {
  let offset = 0;
  for (;;) {
    const colon = received.indexOf(':', offset);
    const name = received.toString('latin1', offset, Math.max(colon, offset)).toLowerCase();
    if (!TRACE_FIELDS.has(name)) return received.subarray(offset);
    offset = endOfField(received, offset);
  }
}

/** Offset of the next field: after the first line break that is not followed by white space (RFC 5322 §2.2.3). */
function endOfField(message: Buffer, start: number): number {
  let offset = start;
  do {
    offset = message.indexOf('\r\n', offset) + 2;
  } while (message[offset] === 0x20 || message[offset] === 0x09);
  return offset;
}

async function withInbox<T>(
  servers: MailServers,
  user: MailUser,
  use: (client: ImapFlow) => Promise<T>,
): Promise<T> {
  const client = new ImapFlow({
    host: servers.host,
    port: servers.imapPort,
    secure: false,
    auth: { user, pass: servers.users[user].password },
    logger: false,
  });
  await client.connect();
  try {
    await client.mailboxOpen('INBOX', { readOnly: true });
    return await use(client);
  } finally {
    await client.logout();
  }
}
