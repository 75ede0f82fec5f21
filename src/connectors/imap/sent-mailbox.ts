/**
 * The Sent mailbox as a place to store copies in: found by its special use (RFC 6154) or the configured name, searched by
 * Message-ID, and added to with APPEND (RFC 9051 §6.3.12). It is opened read-only: no message in it is ever changed.
 */
import type { ImapFlow, ListResponse } from 'imapflow';
import { MailboxError } from '../../areas/mailboxes/mailbox-ports.ts';
import type { SentMailbox } from '../../areas/sent-copies/sent-copy-ports.ts';
import { formatMessageId } from '../../core/message/message-id.ts';
import { isRefused } from './fetch-rows.ts';
import type { ImapConnection } from './imap-connection.ts';
import { MAX_COMMAND_BYTES, MAX_LIST_BYTES, MAX_OPEN_BYTES, MIN_UPLOAD_BYTES_PER_SECOND } from './limits.ts';

/** The name of a Sent mailbox that is created here: the one that most servers and programs use. */
const NEW_SENT_PATH = 'Sent';
/** Needs no encoding (RFC 9051 §5.1), so that it can stand in a command of ours. Input: at most 1000 characters. */
const PLAIN_PATH = /^[ !#-%'-[\]-~]+$/;

/** A private method of the library; tests on a real server fail when an update removes it. */
interface PrivateMethods {
  exec(command: string, attributes: readonly unknown[]): Promise<{ next(): void }>;
}

/** @param sentPath the configured name; null: the server's flag, or a name that suggests it */
export async function openSentMailbox(
  connection: ImapConnection,
  sentPath: string | null,
): Promise<SentMailbox> {
  const path = (await findSent(connection, sentPath)) ?? (await createSent(connection, sentPath));
  const opened = await connection.run(
    'EXAMINE',
    () => connection.client.mailboxOpen(path, { readOnly: true }),
    MAX_OPEN_BYTES,
  );
  const uidValidity = Number(opened.uidValidity);
  return {
    path,

    async find(messageId) {
      // RFC 9051 §5.2: a search may miss messages that arrived since the last command that reports new messages.
      await connection.run('NOOP', () => connection.client.noop());
      const header = { 'message-id': formatMessageId(messageId) };
      const uids = await connection.run('SEARCH', () => connection.client.search({ header }, { uid: true }));
      // The library does not pass on the server's words.
      if (uids === false || uids === undefined) throw new MailboxError('refused', 'SEARCH was refused');
      const [uid] = uids;
      return uid === undefined ? null : { uidValidity, uid };
    },

    async append(raw, date) {
      // The library writes the message at once, and the server sends nothing until it has received all of it.
      const uploadMs = Math.ceil((raw.length / MIN_UPLOAD_BYTES_PER_SECOND) * 1000);
      const appended = await connection.run(
        'APPEND',
        () => append(connection, path, raw, date),
        MAX_COMMAND_BYTES,
        uploadMs,
      );
      if (appended === false) throw new MailboxError('connection', 'APPEND was not sent');
      return {
        uidValidity: appended.uidValidity === undefined ? null : Number(appended.uidValidity),
        uid: appended.uid ?? null,
      };
    },

    close: () => connection.close(),
  };
}

async function append({ client }: ImapConnection, path: string, raw: Buffer, date: Date) {
  try {
    return await client.append(path, raw, ['\\Seen'], date);
  } catch (error) {
    // RFC 7889: the library itself refuses a message above the size that the server announced.
    if (error instanceof Error && 'serverResponseCode' in error && error.serverResponseCode === 'APPENDLIMIT')
      throw new MailboxError('refused', error.message, error);
    throw error;
  }
}

async function findSent(connection: ImapConnection, sentPath: string | null): Promise<string | null> {
  const hints = sentPath === null ? {} : { specialUseHints: { sent: sentPath } };
  const mailboxes = await connection.run('LIST', () => connection.client.list(hints), MAX_LIST_BYTES);
  return mailboxes.find(isSent)?.path ?? null;
}

// RFC 9051 §7.3.1. Seen in practice: other cases than those of the standard.
const isSent = ({ specialUse, flags, path }: ListResponse): boolean =>
  specialUse === '\\Sent' &&
  !path.includes('\0') &&
  ![...flags].some((flag) => /^\\(?:noselect|nonexistent)$/i.test(flag));

/**
 * Only on servers that store special uses: then every mail program recognises the new mailbox. Elsewhere a Sent mailbox may already exist
 * under a name that we don't know.
 */
async function createSent(connection: ImapConnection, sentPath: string | null): Promise<string> {
  const { client } = connection;
  const namespace = client.namespace;
  const prefix = namespace && typeof namespace !== 'string' ? (namespace.prefix ?? '') : '';
  const path = sentPath ?? `${prefix}${NEW_SENT_PATH}`;
  if (!client.capabilities.has('CREATE-SPECIAL-USE') || !PLAIN_PATH.test(path)) {
    const missing = sentPath === null ? 'there is no Sent mailbox' : `there is no mailbox ${sentPath}`;
    throw new MailboxError('refused', `${missing}, and the server can't make one that is known as such`);
  }
  try {
    await connection.run('CREATE', async () => {
      // RFC 6154 §3; the library's own method does not support special uses.
      const use = [{ type: 'ATOM', value: 'USE' }, [{ type: 'ATOM', value: '\\Sent' }]];
      const answer = await (client as ImapFlow & PrivateMethods).exec('CREATE', [
        { type: 'STRING', value: path },
        use,
      ]);
      answer.next();
    });
  } catch (error) {
    // Another process may have created it at the same moment.
    const found = isRefused(error) ? await findSent(connection, sentPath) : null;
    if (found === null) throw error;
    return found;
  }
  await connection.run('SUBSCRIBE', () => client.mailboxSubscribe(path));
  return path;
}
