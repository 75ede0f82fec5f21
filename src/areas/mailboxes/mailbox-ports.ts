/**
 * The operations that reading existing mailboxes needs from outside: `MailboxSource` speaks IMAP (RFC 9051, RFC 3501);
 * the types are those of the wire, independent of any library.
 *
 * A UID means nothing without its mailbox and UIDVALIDITY (RFC 9051 §2.3.1.1). Sequence numbers never leave the adapter.
 */

/** Without a date in the configuration, the first sync of a mailbox starts this many days back. */
export const FIRST_SYNC_DAYS = 90;

/** Unsigned 32-bit, never 0. */
export type Uid = number;

/** An IMAP mailbox (folder). */
export interface MailboxInfo {
  /**
   * As the server names it, decoded from modified UTF-7; case-sensitive, except for INBOX, which is always upper-case.
   */
  readonly path: string;
  /** RFC 6154, such as `\Sent`, and `\Inbox` for INBOX; null for others. */
  readonly specialUse: string | null;
}

/** The state of a mailbox at the last look; lets the server report only changes. */
export interface KnownMailbox {
  readonly uidValidity: number;
  /** null when the server had none. */
  readonly highestModSeq: bigint | null;
}

/** The current state of a mailbox on the server. */
export interface OpenedMailbox {
  readonly uidValidity: number;
  /** The next UID that it will assign; null when the server does not say. */
  readonly uidNext: Uid | null;
  /** Messages in it. */
  readonly exists: number;
  /** CONDSTORE (RFC 7162); null without it. */
  readonly highestModSeq: bigint | null;
  /**
   * UIDs that were expunged since `KnownMailbox` (QRESYNC, RFC 7162 §3.2.5.2); null when the server does not say, or the
   * UIDVALIDITY has changed: then the list of UIDs must be compared.
   */
  readonly vanished: readonly Uid[] | null;
}

export interface MessageSummary {
  readonly uid: Uid;
  /** When the server received it; null when it does not say. */
  readonly internalDate: Date | null;
  /** RFC822.SIZE; servers may be wrong. */
  readonly sizeBytes: number;
  /** It has the flag \Seen; false when the server does not say. */
  readonly isSeen: boolean;
  /**
   * The header fields that were asked for, unchanged, with the empty line that ends a header; only that line when the server refuses
   * them. Long ones are truncated.
   */
  readonly header: Buffer;
  /** It is neither refused nor truncated. */
  readonly isHeaderWhole: boolean;
}

/** `trace`: Message-ID, Date, From, Subject, Received. `rules`: those of CaptureFacts, and Message-ID. */
export type SummaryFields = 'trace' | 'rules';

export interface FetchedMessage {
  readonly uid: Uid;
  /**
   * The whole message as it came, CRLF. Must be read to its end, or returned from, before the next one is requested.
   * Throws `MailboxError` of kind `refused` when the server does not give this one message, or when it is removed while
   * it is read: the next one can still be requested. Messages that may have broken a connection are requested alone in
   * later sessions, so that `MailboxError.uid` names the one.
   */
  readonly raw: AsyncIterable<Buffer>;
}

/**
 * One connection, one account. Not for concurrent use, except `close`. Every method throws `MailboxError`; one with
 * `kind: 'connection'` ends the session.
 */
export interface MailboxSession {
  /** The server can report changes at once (RFC 2177). */
  readonly canIdle: boolean;
  /** Mailboxes that can be opened. */
  listMailboxes(): Promise<readonly MailboxInfo[]>;
  /** Opens it read-only (EXAMINE): nothing is ever changed in a mailbox. Stays open until another one is opened. */
  open(path: string, known: KnownMailbox | null): Promise<OpenedMailbox>;
  /**
   * UIDs of the open mailbox from `first` on, ascending; only of messages that the server received on the day of `since`
   * (UTC, but the server uses its own time zone) or later.
   *
   * @param withDrafts also those with the flag \Draft; default true
   */
  listUids(first: Uid, since: Date | null, withDrafts?: boolean): Promise<readonly Uid[]>;
  /** In the order given. UIDs that no longer exist are left out; the same in `fetchMessages`. */
  fetchSummaries(uids: readonly Uid[], fields: SummaryFields): AsyncIterable<MessageSummary>;
  /** In the order given. A message's bytes are streamed with bounded memory, whatever its size. Never marks it as read. */
  fetchMessages(uids: readonly Uid[]): AsyncIterable<FetchedMessage>;
  /**
   * Resolves when messages may have come or gone in the open mailbox, after `timeoutMs`, or when `signal` is aborted.
   * Uses IDLE if the server supports it, otherwise polls. Changes since `open` count, so nothing is missed in between.
   */
  waitForChange(timeoutMs: number, signal: AbortSignal): Promise<'changed' | 'timeout' | 'stopped'>;
  /** Logs out, or cuts the connection when that takes long; a second call does nothing. */
  close(): Promise<void>;
}

/**
 * `credentials`: the server refused them, or the OAuth2 token failed permanently: an administrator must act.
 * `connection`: unreachable, TLS failed, cut, or no answer in time. `refused`: a command got NO or BAD, such as for a
 * mailbox that does not exist (any more).
 */
export type MailboxErrorKind = 'credentials' | 'connection' | 'refused';

export class MailboxError extends Error {
  readonly kind: MailboxErrorKind;
  /**
   * With `kind: 'connection'`: the one message that was being requested when the connection broke; null when there was
   * none, or several. A message that breaks it again and again must be left alone, or it blocks all others.
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
  /** Connects and authenticates, with one deadline for both. Throws `MailboxError`. */
  connect(accountId: string, signal: AbortSignal): Promise<MailboxSession>;
  /**
   * Why the account will stop working unless an operator acts, such as a token that can't be refreshed; null: all is
   * well.
   */
  warningOf(accountId: string): string | null;
}
