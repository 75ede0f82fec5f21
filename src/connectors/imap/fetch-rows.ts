/** One UID FETCH, and a search for the messages that exist at all. */
import type { FetchMessageObject, FetchQueryObject } from 'imapflow';
import { MailboxError, type Uid } from '../../areas/mailboxes/mailbox-ports.ts';
import type { ImapConnection } from './imap-connection.ts';
import { formatUidSet } from './uid-set.ts';

/**
 * Calls `onRow` for each answer about one of the UIDs; a server may give several about one, also unasked, and none. Answers about other
 * messages are ignored.
 *
 * @throws {MailboxError} `refused` after some rows, too
 */
export async function fetchRows(
  connection: ImapConnection,
  uids: readonly Uid[],
  query: FetchQueryObject,
  onRow: (row: FetchMessageObject) => void,
): Promise<void> {
  if (uids.length === 0) return;
  const asked = new Set(uids);
  const outstanding = new Set(uids);
  try {
    await connection.run('FETCH', async () => {
      const rows = connection.client.fetch(formatUidSet(uids), { uid: true, ...query }, { uid: true });
      for await (const row of rows) {
        outstanding.delete(row.uid);
        if (asked.has(row.uid)) onRow(row);
      }
    });
  } catch (error) {
    if (isRefused(error) || !(error instanceof MailboxError)) throw error;
    connection.suspects.add(outstanding);
    const [first = 0] = uids;
    throw uids.length === 1
      ? new MailboxError(error.kind, `UID ${first}: ${error.message}`, error, first)
      : error;
  }
  const [first = 0] = uids;
  if (uids.length === 1) connection.suspects.delete(first);
}

/** Those of the UIDs that are in the mailbox. */
export async function findPresent(connection: ImapConnection, uids: readonly Uid[]): Promise<readonly Uid[]> {
  if (uids.length === 0) return [];
  const found = new Set(await search(connection, { uid: formatUidSet(uids) }));
  return uids.filter((uid) => found.has(uid));
}

/** UID SEARCH: the UIDs in ascending order, each once, all of them valid. */
export async function search(
  connection: ImapConnection,
  query: { readonly uid?: string; readonly since?: Date; readonly all?: boolean },
): Promise<readonly Uid[]> {
  const found = await connection.run('SEARCH', () => connection.client.search({ ...query }, { uid: true }));
  // The library does not pass on the server's words.
  if (found === false || found === undefined) throw new MailboxError('refused', 'SEARCH was refused');
  return found;
}

export function isRefused(error: unknown): error is MailboxError {
  return error instanceof MailboxError && error.kind === 'refused';
}
