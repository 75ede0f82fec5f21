/** A mailbox session over one IMAP connection. No type of the library leaves this folder. */
import type { ListResponse } from 'imapflow';
import {
  MailboxError,
  type KnownMailbox,
  type MailboxInfo,
  type MailboxSession,
  type OpenedMailbox,
  type Uid,
} from '../../areas/mailboxes/mailbox-ports.ts';
import { fetchMessages } from './fetch-messages.ts';
import { search } from './fetch-rows.ts';
import { fetchSummaries } from './fetch-summaries.ts';
import type { ImapConnection } from './imap-connection.ts';
import { MAX_LIST_BYTES, MAX_OPEN_BYTES } from './limits.ts';
import { ChangeWaiter } from './wait-for-change.ts';

/** UIDVALIDITY is a 32-bit number, never 0 (RFC 9051 §9 "nz-number"). */
const MAX_UID_VALIDITY = 2n ** 32n - 1n;

export interface SessionOptions {
  readonly idleRenewMs: number;
  /** The mailbox that is `\Sent` whatever the server says; null: the server's flag, or a name that suggests it. */
  readonly sentPath: string | null;
}

export function createSession(connection: ImapConnection, options: SessionOptions): MailboxSession {
  const { client, vanished } = connection;
  const waiter = new ChangeWaiter(connection);

  async function listMailboxes(): Promise<readonly MailboxInfo[]> {
    const { sentPath } = options;
    const hints = sentPath === null ? {} : { specialUseHints: { sent: sentPath } };
    const mailboxes = await connection.run('LIST', () => client.list(hints), MAX_LIST_BYTES);
    return mailboxes
      .filter(canBeOpened)
      .map(({ path, specialUse }) => ({ path, specialUse: specialUse ?? null }));
  }

  async function open(path: string, known: KnownMailbox | null): Promise<OpenedMailbox> {
    const modSeq = known?.highestModSeq ?? null;
    // RFC 7162 §3.2.5: the server reports changes since then; without QRESYNC the library leaves it out.
    const since =
      known === null || modSeq === null ? {} : { uidValidity: known.uidValidity, changedSince: modSeq };
    connection.changed = false;
    connection.sizes.clear();
    vanished.collect();
    const mailbox = await connection.run(
      'EXAMINE',
      () => client.mailboxOpen(path, { readOnly: true, ...since }),
      MAX_OPEN_BYTES,
    );
    const gone = vanished.take();
    const { uidValidity, uidNext, exists, highestModseq, noModseq } = mailbox;
    // A server that omits it has no lasting UIDs.
    if (typeof uidValidity !== 'bigint' || uidValidity < 1n || uidValidity > MAX_UID_VALIDITY) {
      throw new MailboxError('refused', `the server gives no valid UIDVALIDITY for ${path}`);
    }
    const highestModSeq = noModseq === true || !highestModseq ? null : highestModseq;
    connection.suspects.use(path, Number(uidValidity));
    const resynchronised =
      known?.uidValidity === Number(uidValidity) &&
      modSeq !== null &&
      highestModSeq !== null &&
      client.enabled.has('QRESYNC');
    return {
      uidValidity: Number(uidValidity),
      uidNext: uidNext > 0 ? uidNext : null,
      exists: exists ?? 0,
      highestModSeq,
      vanished: resynchronised ? gone : null,
    };
  }

  async function listUids(first: Uid, since: Date | null, withDrafts = true): Promise<readonly Uid[]> {
    const everything = first <= 1 && since === null;
    const uids = await search(connection, {
      ...(everything ? { all: true } : { uid: `${first}:*` }),
      ...(since === null ? {} : { since }),
      ...(withDrafts ? {} : { draft: false }),
    });
    // RFC 9051 §6.4.8: `*` is the last message, even when its UID is below `first`.
    return uids.filter((uid) => uid >= first);
  }

  return {
    get canIdle() {
      return waiter.canIdle;
    },
    listMailboxes,
    open,
    listUids,
    fetchSummaries: (uids, fields) => fetchSummaries(connection, uids, fields),
    fetchMessages: (uids) => fetchMessages(connection, uids),
    waitForChange: (timeoutMs, signal) =>
      waiter.wait({ timeoutMs, idleRenewMs: options.idleRenewMs, signal }),
    close: () => connection.close(),
  };
}

// RFC 9051 §7.3.1. Seen in practice: other cases than those of the standard.
function canBeOpened({ flags }: ListResponse): boolean {
  return ![...flags].some((flag) => /^\\(?:noselect|nonexistent)$/i.test(flag));
}
