/**
 * An IMAP server in memory that keeps the rules of RFC 9051, behind the same port as the real one: the model for the properties, and the
 * injector of faults that a real server can't be asked for.
 */
import {
  MailboxError,
  type FetchedMessage,
  type KnownMailbox,
  type MailboxInfo,
  type MailboxSession,
  type MailboxSource,
  type MessageSummary,
  type OpenedMailbox,
  type SummaryFields,
} from '../../src/areas/mailboxes/mailbox-ports.ts';

export interface MemoryMessage {
  readonly uid: number;
  readonly raw: Buffer;
  readonly internalDate: Date;
  readonly isSeen: boolean;
}

const FIELDS: Readonly<Record<SummaryFields, RegExp>> = {
  trace: /^(?:message-id|date|from|subject|received):/i,
  rules:
    /^(?:message-id|from|reply-to|to|cc|bcc|subject|sensitivity|in-reply-to|references|content-type|return-path):/i,
};

export class MemoryMailbox {
  readonly info: MailboxInfo;
  readonly messages = new Map<number, MemoryMessage>();
  /** UIDs of messages with the flag \Draft. */
  readonly drafts = new Set<number>();
  readonly expunged = new Map<number, bigint>();
  uidValidity = 1000;
  uidNext = 1;
  modSeq = 1n;
  readonly watchers = new Set<() => void>();

  constructor(info: MailboxInfo) {
    this.info = info;
  }

  add(raw: string, internalDate = new Date(), isSeen = false): number {
    const uid = this.uidNext++;
    this.messages.set(uid, { uid, raw: Buffer.from(raw), internalDate, isSeen });
    this.#touch();
    return uid;
  }

  expunge(uid: number): void {
    this.messages.delete(uid);
    this.#touch();
    this.expunged.set(uid, this.modSeq);
  }

  /** Assigns another UIDVALIDITY; the messages are the same, under new UIDs. */
  renew(): void {
    const messages = [...this.messages.values()];
    this.uidValidity += 1;
    this.messages.clear();
    this.expunged.clear();
    this.uidNext = 1;
    for (const { raw, internalDate, isSeen } of messages) {
      this.add(raw.toString('latin1'), internalDate, isSeen);
    }
    this.#touch();
  }

  #touch(): void {
    this.modSeq += 1n;
    for (const watcher of this.watchers) watcher();
  }
}

/** Faults, each called at its point; an error that it throws reaches the caller. */
export interface MemoryFaults {
  connect?: (accountId: string, signal: AbortSignal) => void | Promise<void>;
  /** Before each command. */
  command?: (name: string) => void | Promise<void>;
  /** Before the bytes of a message are sent. */
  message?: (message: MemoryMessage) => void | Promise<void>;
  /** The size that the server reports; default: the truth. */
  size?: (message: MemoryMessage) => number;
}

export interface MemoryServerOptions {
  /** Default true. */
  readonly qresync?: boolean;
  /** Default true. */
  readonly idle?: boolean;
}

export class MemoryMailServer implements MailboxSource {
  readonly faults: MemoryFaults = {};
  readonly accounts = new Map<string, Map<string, MemoryMailbox>>();
  /** Commands so far, such as `open INBOX`. */
  readonly commands: string[] = [];
  readonly fetchedUids: number[] = [];
  readonly sessions = new Set<MemorySession>();
  /** Number of sessions that wait for a change. */
  waiting = 0;
  readonly options: MemoryServerOptions;

  constructor(options: MemoryServerOptions = {}) {
    this.options = options;
  }

  get accountIds(): readonly string[] {
    return [...this.accounts.keys()];
  }

  warningOf(): null {
    return null;
  }

  /** Creates INBOX and Sent. */
  addAccount(id: string): { inbox: MemoryMailbox; sent: MemoryMailbox } {
    const inbox = new MemoryMailbox({ path: 'INBOX', specialUse: '\\Inbox' });
    const sent = new MemoryMailbox({ path: 'Sent', specialUse: '\\Sent' });
    this.accounts.set(id, new Map([inbox, sent].map((mailbox) => [mailbox.info.path, mailbox])));
    return { inbox, sent };
  }

  async connect(accountId: string, signal: AbortSignal): Promise<MemorySession> {
    this.commands.push(`connect ${accountId}`);
    await this.faults.connect?.(accountId, signal);
    if (signal.aborted) throw new MailboxError('connection', 'the connecting was given up');
    const mailboxes = this.accounts.get(accountId);
    if (mailboxes === undefined) throw new MailboxError('credentials', 'no such user');
    const session = new MemorySession(this, mailboxes);
    this.sessions.add(session);
    return session;
  }

  /** Cuts every connection. */
  cut(): void {
    for (const session of this.sessions) void session.close();
  }
}

class MemorySession implements MailboxSession {
  readonly #server: MemoryMailServer;
  readonly #mailboxes: ReadonlyMap<string, MemoryMailbox>;
  #open: MemoryMailbox | null = null;
  #seen = 0n;
  #closed = false;
  readonly #onClose = new Set<() => void>();

  constructor(server: MemoryMailServer, mailboxes: ReadonlyMap<string, MemoryMailbox>) {
    this.#server = server;
    this.#mailboxes = mailboxes;
  }

  get canIdle(): boolean {
    return this.#server.options.idle !== false;
  }

  async #command(name: string): Promise<void> {
    this.#check();
    this.#server.commands.push(name);
    await this.#server.faults.command?.(name);
    this.#check();
  }

  #check(): void {
    if (this.#closed) throw new MailboxError('connection', 'the line is cut');
  }

  #mailbox(): MemoryMailbox {
    if (this.#open === null) throw new MailboxError('refused', 'no mailbox is open');
    return this.#open;
  }

  async listMailboxes(): Promise<readonly MailboxInfo[]> {
    await this.#command('list');
    return [...this.#mailboxes.values()].map(({ info }) => info);
  }

  async open(path: string, known: KnownMailbox | null): Promise<OpenedMailbox> {
    await this.#command(`open ${path}`);
    const mailbox = this.#mailboxes.get(path);
    if (mailbox === undefined) throw new MailboxError('refused', 'no such mailbox');
    this.#open = mailbox;
    this.#seen = mailbox.modSeq;
    const { qresync = true } = this.#server.options;
    const since = known?.uidValidity === mailbox.uidValidity ? known.highestModSeq : null;
    return {
      uidValidity: mailbox.uidValidity,
      uidNext: mailbox.uidNext,
      exists: mailbox.messages.size,
      highestModSeq: qresync ? mailbox.modSeq : null,
      vanished:
        qresync && since !== null
          ? [...mailbox.expunged].filter(([, at]) => at > since).map(([uid]) => uid)
          : null,
    };
  }

  async listUids(first: number, since: Date | null, withDrafts = true): Promise<readonly number[]> {
    await this.#command(`list from ${first}`);
    const { messages, drafts } = this.#mailbox();
    return [...messages.values()]
      .filter(({ uid }) => withDrafts || !drafts.has(uid))
      .filter(({ uid, internalDate }) => uid >= first && (since === null || internalDate >= since))
      .map(({ uid }) => uid);
  }

  async *fetchSummaries(uids: readonly number[], asked: SummaryFields): AsyncGenerator<MessageSummary> {
    await this.#command(`summaries of ${uids.length}`);
    for (const uid of uids) {
      this.#check();
      const message = this.#mailbox().messages.get(uid);
      if (message === undefined) continue;
      const { raw, internalDate } = message;
      const [head = ''] = raw.toString('latin1').split('\r\n\r\n');
      const fields = head.split(/\r\n(?![ \t])/).filter((field) => FIELDS[asked].test(field));
      yield {
        uid,
        internalDate,
        sizeBytes: this.#server.faults.size?.(message) ?? raw.length,
        isSeen: message.isSeen,
        header: Buffer.from([...fields, '', ''].join('\r\n'), 'latin1'),
        isHeaderWhole: true,
      };
    }
  }

  async *fetchMessages(uids: readonly number[]): AsyncGenerator<FetchedMessage> {
    await this.#command(`fetch ${uids.length}`);
    for (const uid of uids) {
      this.#check();
      const message = this.#mailbox().messages.get(uid);
      if (message === undefined) continue;
      yield { uid, raw: this.#bytesOf(message) };
    }
  }

  async *#bytesOf(message: MemoryMessage): AsyncGenerator<Buffer> {
    await this.#server.faults.message?.(message);
    this.#check();
    if (!this.#mailbox().messages.has(message.uid)) throw new MailboxError('refused', 'it is gone');
    this.#server.fetchedUids.push(message.uid);
    const middle = Math.floor(message.raw.length / 2);
    yield message.raw.subarray(0, middle);
    yield message.raw.subarray(middle);
  }

  async waitForChange(timeoutMs: number, signal: AbortSignal): Promise<'changed' | 'timeout' | 'stopped'> {
    await this.#command('wait');
    const mailbox = this.#mailbox();
    return await new Promise((resolve, reject) => {
      this.#server.waiting += 1;
      const end = (result: 'changed' | 'timeout' | 'stopped' | 'cut') => {
        this.#server.waiting -= 1;
        clearTimeout(timer);
        mailbox.watchers.delete(onChange);
        this.#onClose.delete(onCut);
        signal.removeEventListener('abort', onStop);
        if (result === 'cut') reject(new MailboxError('connection', 'the line is cut'));
        else resolve(result);
      };
      const onChange = () => end('changed');
      const onCut = () => end('cut');
      const onStop = () => end('stopped');
      const timer = setTimeout(() => end('timeout'), timeoutMs);
      if (this.canIdle) mailbox.watchers.add(onChange);
      this.#onClose.add(onCut);
      signal.addEventListener('abort', onStop);
      if (signal.aborted) onStop();
      else if (this.canIdle && mailbox.modSeq !== this.#seen) onChange();
    });
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#server.sessions.delete(this);
    for (const cut of this.#onClose) cut();
  }
}
