/**
 * Keeps what somebody writes as a draft of the service: some moments after the last key, one request at a time, and always the
 * newest text. A draft that another window changed is not overwritten.
 */
import { EmailWorkerError, type Draft, type DraftRequest } from 'email-worker-client';
import { client } from '../../api/client.ts';

export type Fields = NonNullable<DraftRequest['message']>;
export type KeeperState = 'idle' | 'saving' | 'saved' | 'failed' | 'elsewhere';

/** Often enough that a crash takes no sentence, seldom enough that typing costs no request for each word. */
const SAVE_AFTER_MS = 700;
const RETRY_AFTER_MS = 5000;

export interface Version {
  readonly id: string;
  readonly version: number;
}

export class DraftKeeper {
  readonly #base: DraftRequest;
  readonly #tell: (state: KeeperState) => void;
  #draft: Version | null;
  #wanted: Fields | null = null;
  #timer: ReturnType<typeof setTimeout> | null = null;
  #running: Promise<void> = Promise.resolve();
  #isClosed = false;

  /** `base` says whose it is and what it answers; `draft` is the one that is continued. */
  constructor(base: DraftRequest, draft: Draft | null, tell: (state: KeeperState) => void) {
    this.#base = base;
    this.#draft = draft;
    this.#tell = tell;
  }

  change(fields: Fields): void {
    this.#wanted = { ...this.#wanted, ...fields };
    this.#schedule(SAVE_AFTER_MS);
  }

  /** Everything is stored when it resolves. Throws what the service says against it. */
  async flush(fields: Fields): Promise<Version> {
    this.#wanted = { ...this.#wanted, ...fields };
    this.#cancelTimer();
    await this.#running;
    await this.#save();
    if (this.#draft === null) throw new Error('the draft was not stored');
    return this.#draft;
  }

  open(): void {
    this.#isClosed = false;
  }

  /** Saves what is not saved yet, and nothing after that; resolves when that is done. */
  close(): Promise<void> {
    this.#isClosed = true;
    this.#cancelTimer();
    if (this.#wanted !== null) this.#start();
    return this.#running;
  }

  /** Throws when it could not be deleted. */
  async discard(): Promise<void> {
    this.#isClosed = true;
    this.#wanted = null;
    this.#cancelTimer();
    await this.#running;
    if (this.#draft !== null) await client.drafts.delete(this.#draft.id);
  }

  /** It was sent: there is no draft any more. */
  forget(): void {
    this.#isClosed = true;
    this.#wanted = null;
    this.#cancelTimer();
  }

  #schedule(ms: number): void {
    this.#cancelTimer();
    if (!this.#isClosed) this.#timer = setTimeout(() => this.#start(), ms);
  }

  #cancelTimer(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
  }

  #start(): void {
    this.#running = this.#running
      .then(() => this.#save())
      .catch((error: unknown) => {
        const isElsewhere = error instanceof EmailWorkerError && error.code === 'draft_changed';
        this.#tell(isElsewhere ? 'elsewhere' : 'failed');
        if (!isElsewhere) this.#schedule(RETRY_AFTER_MS);
      });
  }

  async #save(): Promise<void> {
    const message = this.#wanted;
    if (message === null) return;
    this.#wanted = null;
    this.#tell('saving');
    try {
      this.#draft =
        this.#draft === null
          ? await client.drafts.create({ ...this.#base, message })
          : await client.drafts.change(this.#draft.id, this.#draft.version, { message });
    } catch (error) {
      // What was written since goes before it.
      this.#wanted = { ...message, ...(this.#wanted as Fields | null) };
      throw error;
    }
    this.#tell('saved');
  }
}
