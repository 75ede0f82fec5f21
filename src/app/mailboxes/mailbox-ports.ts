/**
 * What reading existing mailboxes needs from outside: `MailboxSource` speaks IMAP (RFC 9051, RFC 3501); the types are
 * those of the wire, without anything of a library.
 *
 * A UID means nothing without its mailbox and UIDVALIDITY (RFC 9051 §2.3.1.1). Sequence numbers never leave the adapter.
 */

/** Without a date in the configuration, the first sync of a mailbox starts this many days back. */
export const FIRST_SYNC_DAYS = 90;

/** Unsigned 32-bit, never 0. */
export type Uid = number;

/** An IMAP mailbox (folder). */
export interface MailboxInfo {
  /** As the server names it, decoded from modified UTF-7; case counts, but for INBOX, which is always upper-case. */
  readonly path: string;
  /** RFC 6154, such as `\Sent`, and `\Inbox` for INBOX; null for others. */
  readonly specialUse: string | null;
}

/** What is known of a mailbox from the last time; lets the server tell only what is new. */
export interface KnownMailbox {
  readonly uidValidity: number;
  /** null when the server had none. */
  readonly highestModSeq: bigint | null;
}

/** A mailbox as the server has it now. */
export interface OpenedMailbox {
  readonly uidValidity: number;
  /** The next UID it will give out; null when the server does not say. */
  readonly uidNext: Uid | null;
  /** Messages in it. */
  readonly exists: number;
  /** CONDSTORE (RFC 7162); null without it. */
  readonly highestModSeq: bigint | null;
  /**
   * UIDs that were expunged since `KnownMailbox` (QRESYNC, RFC 7162 §3.2.5.2); null when the server does not say, or
   * has another UIDVALIDITY: then the list of UIDs must be compared.
   */
  readonly vanished: readonly Uid[] | null;
}

export interface MessageSummary {
  readonly uid: Uid;
  /** When the server took it; null when it does not say. */
  readonly internalDate: Date | null;
  /** RFC822.SIZE; servers may be wrong. */
  readonly sizeBytes: number;
  /** It has the flag \Seen; false when the server does not say. */
  readonly isSeen: boolean;
  /**
   * The header fields Message-ID, Date, From, Subject as they stand, with the empty line that ends a header; only that
   * line when the server refuses them. Long ones are cut.
   */
  readonly header: Buffer;
}

export interface FetchedMessage {
  readonly uid: Uid;
  /**
   * The whole message as it came, CRLF. Must be read to its end, or returned from, before the next one is asked for.
   * Throws `MailboxError` of kind `refused` when the server does not give this one message, or when it is removed while
   * it is read: the next one can still be asked for. Messages that a broken connection may be due to are asked for alone
   * in later sessions, so that `MailboxError.uid` names it then.
   */
  readonly raw: AsyncIterable<Buffer>;
}

/**
 * One connection, one account. Not for concurrent use, except `close`. Every method throws `MailboxError`; one with
 * `kind: 'connection'` ends the session.
 */
export interface MailboxSession {
  /** The server can say at once when something changes (RFC 2177). */
  readonly canIdle: boolean;
  /** Mailboxes that can be opened. */
  listMailboxes(): Promise<readonly MailboxInfo[]>;
  /** Opens it read-only (EXAMINE): nothing is ever changed in a mailbox. Stays open until another one is. */
  open(path: string, known: KnownMailbox | null): Promise<OpenedMailbox>;
  /**
   * UIDs of the open mailbox from `first` on, ascending; only of messages the server took on the day of `since` (UTC, but
   * the server counts its own days) or later.
   */
  listUids(first: Uid, since: Date | null): Promise<readonly Uid[]>;
  /** In the order given. UIDs that are gone meanwhile are left out; so in `fetchMessages`. */
  fetchSummaries(uids: readonly Uid[]): AsyncIterable<MessageSummary>;
  /** In the order given. A message's bytes are streamed with bounded memory, whatever its size. Never marks it as read. */
  fetchMessages(uids: readonly Uid[]): AsyncIterable<FetchedMessage>;
  /**
   * Resolves when messages may have come or gone in the open mailbox, after `timeoutMs`, or when `signal` says stop.
   * Uses IDLE where the server has it, otherwise asks from time to time. What changed since `open` counts, so nothing
   * is missed in between.
   */
  waitForChange(timeoutMs: number, signal: AbortSignal): Promise<'changed' | 'timeout' | 'stopped'>;
  /** Logs out, or cuts the line when that takes long; a second call does nothing. */
  close(): Promise<void>;
}

/**
 * `credentials`: the server refused them, or the OAuth2 token failed permanently: an administrator must act.
 * `connection`: unreachable, TLS failed, cut, or no answer in time. `refused`: a command got NO or BAD, such as a mailbox
 * that does not exist (any more).
 */
export type MailboxErrorKind = 'credentials' | 'connection' | 'refused';

export class MailboxError extends Error {
  readonly kind: MailboxErrorKind;
  /**
   * With `kind: 'connection'`: the one message that was asked for when the connection broke; null when there was none, or
   * several. One that breaks it again and again must be left alone, or it hides all others.
   */
  readonly uid: Uid | null;

  /** `message`: English, for the operator; never holds a secret. */
  constructor(kind: MailboxErrorKind, message: string, cause?: unknown, uid: Uid | null = null) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = 'MailboxError';
    this.kind = kind;
    this.uid = uid;
  }
}

export interface MailboxSource {
  /** Account ids that have a mailbox to read. */
  readonly accountIds: readonly string[];
  /** Connects and authenticates, with one deadline for all of it. Throws `MailboxError`. */
  connect(accountId: string, signal: AbortSignal): Promise<MailboxSession>;
  /** Why the account will stop working unless an operator acts, such as a token that can't be refreshed; null: all is well. */
  warningOf(accountId: string): string | null;
}
