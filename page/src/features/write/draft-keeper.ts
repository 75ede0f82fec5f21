/**
 * Saves the text that is being written as a draft of the service: a moment after the last key, one request at a time, and always the newest
 * text. A draft that another window changed is not overwritten.
 */
import { EmailWorkerError, type Draft, type DraftAttachment, type DraftRequest } from 'email-worker-client';
import { client } from '../../api/client.ts';

export type Fields = NonNullable<DraftRequest['message']>;
export type Files = NonNullable<DraftRequest['attachments']>;
/** The email that a draft answers, and which parts of it are included. */
export type Answers = NonNullable<Draft['answers']>;
export type KeeperState = 'idle' | 'saving' | 'saved' | 'failed' | 'elsewhere';

/** Often enough that a crash loses no sentence, and seldom enough that typing does not cost a request for each word. */
const SAVE_AFTER_MS = 700;
const RETRY_AFTER_MS = 5000;

/** Saves of closed keepers that are still running. */
const closing = new Set<Promise<void>>();

/** Resolves when closed drafts have been saved. */
export const draftsAreKept = async (): Promise<void> => {
  await Promise.all(closing);
};

export class DraftKeeper {
  #base: DraftRequest;
  readonly #tell: (state: KeeperState) => void;
  #draft: Draft | null;
  #wanted: Fields | null = null;
  #wantedAnswers: Answers | null = null;
  #timer: ReturnType<typeof setTimeout> | null = null;
  #running: Promise<void> = Promise.resolve();
  #isClosed = false;
  /** Texts that the draft may have by now, because a request to set them got no answer. */
  #unsure: readonly Fields[] = [];

  /**
   * `base` has the author, the answered email, and the initial text: a new draft gets them with the first change. `draft` is the draft that
   * is continued.
   */
  constructor(base: DraftRequest, draft: Draft | null, tell: (state: KeeperState) => void) {
    this.#base = base;
    this.#draft = draft;
    this.#tell = tell;
  }

  change(fields: Fields): void {
    this.#wanted = { ...this.#wanted, ...fields };
    this.#schedule(SAVE_AFTER_MS);
  }

  /** The service replaces the answers as a whole. */
  setAnswers(answers: Answers): void {
    this.#base = { ...this.#base, answers };
    this.#wantedAnswers = answers;
    this.#schedule(SAVE_AFTER_MS);
  }

  /** Resolves when everything is stored. Throws the reason when the service refuses. */
  async flush(fields: Fields): Promise<Draft> {
    this.#wanted = { ...this.#wanted, ...fields };
    this.#cancelTimer();
    await this.#running;
    await this.#save();
    if (this.#draft === null) throw new Error('the draft was not stored');
    return this.#draft;
  }

  /**
   * Sets the draft's files, which `choose` makes from the present ones, and stores the unsaved text along with them. Throws the reason when
   * the service refuses; the draft then keeps its previous files.
   */
  async setFiles(choose: (files: readonly DraftAttachment[]) => Files): Promise<readonly DraftAttachment[]> {
    this.#cancelTimer();
    const set = this.#running.then(() => {
      if (this.#isClosed) throw new Error('the draft is closed');
      return this.#save(choose(this.#draft?.attachments ?? []));
    });
    this.#running = set.catch(() => {
      this.#tell(this.#hasWork ? 'failed' : this.#draft === null ? 'idle' : 'saved');
      if (this.#hasWork) this.#schedule(RETRY_AFTER_MS);
    });
    await set;
    return this.#draft?.attachments ?? [];
  }

  open(): void {
    this.#isClosed = false;
  }

  /** Saves unsaved changes, and nothing after that; resolves after the first try. A failed save is repeated until it works. */
  close(): Promise<void> {
    this.#isClosed = true;
    this.#cancelTimer();
    if (this.#hasWork) this.#start();
    const end = this.#running;
    closing.add(end);
    void end.finally(() => closing.delete(end));
    return end;
  }

  /** Throws when the draft could not be deleted. */
  async discard(): Promise<void> {
    this.#isClosed = true;
    this.#dropWork();
    await this.#running;
    if (this.#draft !== null) await client.drafts.delete(this.#draft.id);
  }

  /** The draft was sent: it no longer exists. */
  forget(): void {
    this.#isClosed = true;
    this.#dropWork();
  }

  get #hasWork(): boolean {
    return this.#wanted !== null || this.#wantedAnswers !== null;
  }

  #dropWork(): void {
    this.#wanted = null;
    this.#wantedAnswers = null;
    this.#cancelTimer();
  }

  #schedule(ms: number): void {
    this.#cancelTimer();
    // Changes that could not be saved without a connection still have to be stored.
    if (!this.#isClosed || this.#hasWork) this.#timer = setTimeout(() => this.#start(), ms);
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

  async #save(files: Files | null = null): Promise<void> {
    const message = this.#wanted;
    const answers = this.#wantedAnswers;
    if (message === null && answers === null && files === null) return;
    this.#wanted = null;
    this.#wantedAnswers = null;
    this.#tell('saving');
    const change = {
      ...(message === null ? {} : { message }),
      ...(answers === null ? {} : { answers }),
      ...(files === null ? {} : { attachments: files }),
    };
    try {
      this.#draft =
        this.#draft === null
          ? await client.drafts.create({
              ...this.#base,
              ...change,
              message: { ...this.#base.message, ...message },
            })
          : await this.#change(this.#draft, change);
      this.#unsure = [];
    } catch (error) {
      if (error instanceof EmailWorkerError && error.status === null)
        this.#unsure = [...this.#unsure, { ...this.#draft?.message, ...message }];
      // Text that was written meanwhile takes precedence.
      if (message !== null) this.#wanted = { ...message, ...(this.#wanted as Fields | null) };
      this.#wantedAnswers ??= answers;
      throw error;
    }
    this.#tell('saved');
  }

  /** A version that is new to this window does not come from another window if it contains what this one asked to store. */
  async #change(draft: Draft, change: DraftRequest): Promise<Draft> {
    try {
      return await client.drafts.change(draft.id, draft.version, change);
    } catch (error) {
      const isChanged = error instanceof EmailWorkerError && error.code === 'draft_changed';
      if (!isChanged || this.#unsure.length === 0) throw error;
      const found = await client.drafts.get(draft.id);
      if (!this.#unsure.some((message) => saysAll(found.message, message))) throw error;
      this.#draft = found;
      return client.drafts.change(found.id, found.version, change);
    }
  }
}

const saysAll = (found: Fields, wanted: Fields): boolean =>
  (Object.keys(wanted) as (keyof Fields)[]).every(
    (name) => JSON.stringify(found[name] ?? null) === JSON.stringify(wanted[name] ?? null),
  );
