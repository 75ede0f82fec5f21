/**
 * Saves the text that is being written as a draft of the service: a moment after the last key, at least every three seconds while keys come,
 * and when the page is left; one request at a time, and always the newest text. Until the service has a text, this browser keeps a copy.
 * A draft that another window changed is not overwritten; one that another window sent or discarded leaves its text here.
 */
import type { Draft, DraftAttachment, DraftRequest } from 'email-worker-client';
import { codeOf, hasNoAnswer } from '../../api/failure.ts';
import type { DeviceCopies } from './device-copy.ts';

export type Fields = NonNullable<DraftRequest['message']>;
export type Files = NonNullable<DraftRequest['attachments']>;
type KeptAnswers = NonNullable<Draft['answers']>;
/** The email that a draft answers, and which parts of it are included. */
export type Answers = { readonly [Name in keyof KeptAnswers]: NonNullable<KeptAnswers[Name]> };

/** The service refuses what would have no effect: files of a reply, and how to quote without a quote. */
export const toKept = ({
  kind,
  quote,
  with_files,
  language,
  time_zone,
  ...answers
}: Answers): KeptAnswers => ({
  ...answers,
  kind,
  quote,
  with_files: kind === 'forward' ? with_files : null,
  language: quote ? language : null,
  time_zone: quote ? time_zone : null,
});
/** `sent`, `discarded`: by another window, and this text is stored nowhere. */
export type KeeperState = 'idle' | 'saving' | 'saved' | 'failed' | 'elsewhere' | 'sent' | 'discarded';

/** Options that a request of this size may have: it goes on when the page is left. */
interface StoreOptions {
  readonly keepalive: boolean;
}

/** The drafts of the service. */
export interface DraftStore {
  create(request: DraftRequest, options: StoreOptions): Promise<Draft>;
  change(id: string, version: number, request: DraftRequest, options: StoreOptions): Promise<Draft>;
  get(id: string): Promise<Draft>;
}

export interface KeeperPorts {
  readonly drafts: DraftStore;
  readonly copies: Pick<DeviceCopies, 'keep' | 'drop'>;
  /** The account that writes: see `accountOf`. */
  readonly account: string;
  /** False while another person, or none, is logged in: then nothing is stored in their name. */
  readonly isOurs: () => boolean;
  /** Names the copy in this browser. */
  readonly key: string;
  readonly tell: (state: KeeperState) => void;
  /** The draft no longer exists, nor do its files; `isKept`: the text becomes a draft of its own. */
  readonly onLost: (isKept: boolean, files: readonly DraftAttachment[]) => void;
  /** The account no longer sends as the chosen address: the text is stored without it. */
  readonly onRefusedSender: () => void;
}

/** Often enough that a crash loses no sentence, and seldom enough that typing does not cost a request for each word. */
const SAVE_AFTER_MS = 700;
/** Keys that keep coming delay a save no longer than this. */
const SAVE_WITHIN_MS = 3000;
const RETRY_AFTER_MS = 5000;
/** Browsers let 64 KiB go on behind a page that is left, in all its requests together. */
const MAX_KEEPALIVE_BYTES = 60_000;

/** Saves of closed keepers that are still running. */
const closing = new Set<Promise<void>>();

/** Resolves when closed drafts have been saved. */
export const draftsAreKept = async (): Promise<void> => {
  await Promise.all(closing);
};

/** Lists of drafts wait for this work. */
export function awaitForDrafts(work: Promise<void>): void {
  closing.add(work);
  void work.finally(() => closing.delete(work));
}

/** Those with a text that the service may not have. */
const unsaved = new Set<DraftKeeper>();

/** For a draft that the service no longer has. */
export function loseDraft(id: string, how: 'sent' | 'discarded'): void {
  for (const keeper of unsaved) keeper.lose(id, how);
}

/** After events were missed. */
export function lookForDrafts(): void {
  for (const keeper of unsaved) keeper.look();
}

/** Saves all texts now; resolves after the first try of each. */
export const saveOpenDrafts = async (): Promise<void> => {
  await Promise.all([...unsaved].map((keeper) => keeper.saveNow()));
};

export class DraftKeeper {
  #base: DraftRequest;
  readonly #ports: KeeperPorts;
  #draft: Draft | null;
  /** Everything that was written. */
  #text: Fields;
  #wanted: Fields | null = null;
  #wantedAnswers: KeptAnswers | null = null;
  #unsavedSince: number | null = null;
  #timer: ReturnType<typeof setTimeout> | null = null;
  #running: Promise<void> = Promise.resolve();
  #isClosed = false;
  /** True while the draft is being sent: a change would come too late, or make another draft. */
  #isHeld = false;
  /** Texts that the draft may have by now, because a request to set them got no answer. */
  #unsure: readonly Fields[] = [];

  /**
   * `base` has the author, the answered email, and the initial text: a new draft gets them with the first change. `draft` is the draft that
   * is continued.
   */
  constructor(base: DraftRequest, draft: Draft | null, ports: KeeperPorts) {
    this.#base = base;
    this.#draft = draft;
    this.#text = { ...base.message, ...draft?.message };
    this.#ports = ports;
  }

  change(fields: Fields): void {
    this.#wanted = { ...this.#wanted, ...fields };
    this.#text = { ...this.#text, ...fields };
    this.#scheduleSave();
  }

  /** The service replaces the answers as a whole. */
  setAnswers(answers: Answers): void {
    this.#wantedAnswers = toKept(answers);
    this.#base = { ...this.#base, answers: this.#wantedAnswers };
    this.#scheduleSave();
  }

  /**
   * Resolves when everything is stored, for a send; until `release`, nothing more is saved. Throws the reason when the service refuses.
   */
  async flush(fields: Fields): Promise<Draft> {
    this.#wanted = { ...this.#wanted, ...fields };
    this.#cancelTimer();
    await this.#running;
    await this.#save();
    if (this.#draft === null) throw new Error('the draft was not stored');
    this.#isHeld = true;
    return this.#draft;
  }

  /** The draft was not sent, and saves go on. */
  release(): void {
    this.#isHeld = false;
    if (this.#hasWork) this.#scheduleSave();
    else this.look();
  }

  /**
   * Sets the draft's files, which `choose` makes from the present ones, and stores the unsaved text along with them. Throws the reason when
   * the service refuses; the draft then keeps its previous files.
   */
  async setFiles(choose: (files: readonly DraftAttachment[]) => Files): Promise<readonly DraftAttachment[]> {
    this.#cancelTimer();
    const save = () => this.#save(choose(this.#draft?.attachments ?? []));
    const set = this.#running.then(() => {
      if (this.#isClosed) throw new Error('the draft is closed');
      return save().catch((error: unknown) => {
        if (codeOf(error) !== 'forbidden_from' || !this.#dropSender()) throw error;
        this.#ports.onRefusedSender();
        return save();
      });
    });
    this.#running = set.catch(() => {
      this.#ports.tell(this.#hasWork ? 'failed' : this.#draft === null ? 'idle' : 'saved');
      if (this.#hasWork) this.#schedule(RETRY_AFTER_MS);
    });
    await set;
    return this.#draft?.attachments ?? [];
  }

  open(): void {
    this.#isClosed = false;
    unsaved.add(this);
  }

  /** Saves unsaved changes without delay, as when the page is left; resolves after the first try. */
  saveNow(): Promise<void> {
    this.#cancelTimer();
    if (this.#hasWork) this.#start();
    return this.#running;
  }

  /** Saves unsaved changes, and nothing after that; resolves after the first try. A failed save is repeated until it works. */
  close(): Promise<void> {
    this.#isClosed = true;
    const end = this.saveNow();
    awaitForDrafts(end);
    void end.finally(() => this.#leave());
    return end;
  }

  /** The draft no longer exists. A text that was changed since its last save becomes a draft of its own; another one waits for its writer. */
  lose(id: string, how: 'sent' | 'discarded'): void {
    if (this.#draft?.id !== id || this.#isClosed || this.#isHeld) return;
    if (this.#hasWork) this.#begin();
    else {
      this.#forgetDraft(false);
      this.#ports.tell(how);
    }
  }

  look(): void {
    const id = this.#draft?.id;
    if (id === undefined) return;
    this.#ports.drafts.get(id).catch((error: unknown) => {
      if (codeOf(error) === 'draft_not_found') this.lose(id, 'discarded');
    });
  }

  /** Stores a text whose draft is lost. */
  keep(): Promise<void> {
    this.#wanted = this.#text;
    return this.saveNow();
  }

  /**
   * Nothing more is saved. Returns the draft, which still exists, and the text, with which a draft can be made that the service does not
   * have.
   */
  async discard(): Promise<{ readonly draft: Draft | null; readonly request: DraftRequest }> {
    this.forget();
    await this.#running;
    return { draft: this.#draft, request: { ...this.#base, message: this.#text } };
  }

  /** The draft was sent or discarded: nothing more is saved. */
  forget(): void {
    this.#isClosed = true;
    this.#wanted = null;
    this.#wantedAnswers = null;
    this.#cancelTimer();
    this.#ports.copies.drop(this.#ports.key);
    this.#leave();
  }

  /** A text that could not be saved yet may still be saved on logging out. */
  #leave(): void {
    if (!this.#hasWork) unsaved.delete(this);
  }

  get #hasWork(): boolean {
    return this.#wanted !== null || this.#wantedAnswers !== null;
  }

  #scheduleSave(): void {
    const now = Date.now();
    this.#unsavedSince ??= now;
    this.#copy();
    this.#schedule(Math.max(0, Math.min(SAVE_AFTER_MS, this.#unsavedSince + SAVE_WITHIN_MS - now)));
  }

  #copy(): void {
    const { copies, account, key } = this.#ports;
    const draft = this.#draft === null ? null : { id: this.#draft.id, version: this.#draft.version };
    copies.keep(key, { of: account, draft, request: { ...this.#base, message: this.#text } });
  }

  #schedule(ms: number): void {
    this.#cancelTimer();
    // Changes that could not be saved without a connection still have to be stored.
    if (!this.#isHeld && (!this.#isClosed || this.#hasWork))
      this.#timer = setTimeout(() => this.#start(), ms);
  }

  #cancelTimer(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
  }

  #start(): void {
    this.#running = this.#running
      .then(() => this.#save())
      .catch((error: unknown) => {
        const code = codeOf(error);
        if (code === 'forbidden_from' && this.#dropSender()) {
          this.#ports.onRefusedSender();
          this.#start();
          return;
        }
        const isElsewhere = code === 'draft_changed';
        this.#ports.tell(isElsewhere ? 'elsewhere' : 'failed');
        // Another window sent or discarded the draft, or went on with it when this one was left.
        if (code === 'draft_not_found' || (isElsewhere && this.#isClosed)) this.#begin();
        else if (!isElsewhere) this.#schedule(RETRY_AFTER_MS);
      });
  }

  /** False if no sender is to be stored. */
  #dropSender(): boolean {
    const { from = null, ...wanted } = this.#wanted ?? {};
    if (from === null) return false;
    this.#wanted = Object.keys(wanted).length === 0 ? null : wanted;
    const { from: _refused, ...text } = this.#text;
    this.#text = text;
    if (!this.#hasWork) this.#ports.tell(this.#draft === null ? 'idle' : 'saved');
    return true;
  }

  /** The text becomes a draft of its own. */
  #begin(): void {
    this.#forgetDraft(true);
    this.#wanted = this.#text;
    this.#schedule(0);
  }

  #forgetDraft(isKept: boolean): void {
    const files = this.#draft?.attachments ?? [];
    this.#draft = null;
    this.#ports.onLost(isKept, files);
  }

  async #save(files: Files | null = null): Promise<void> {
    const message = this.#wanted;
    const answers = this.#wantedAnswers;
    if (message === null && answers === null && files === null) return;
    if (!this.#ports.isOurs()) throw new Error('the writer is not logged in');
    this.#wanted = null;
    this.#wantedAnswers = null;
    this.#unsavedSince = null;
    this.#ports.tell('saving');
    const change = {
      ...(message === null ? {} : { message }),
      ...(answers === null ? {} : { answers }),
      ...(files === null ? {} : { attachments: files }),
    };
    try {
      const { drafts } = this.#ports;
      if (this.#draft === null) {
        const request = { ...this.#base, ...change, message: { ...this.#text, ...message } };
        this.#draft = await drafts.create(request, optionsOf(request));
      } else this.#draft = await this.#change(this.#draft, change);
      this.#unsure = [];
    } catch (error) {
      if (hasNoAnswer(error)) this.#unsure = [...this.#unsure, { ...this.#draft?.message, ...message }];
      // Text that was written meanwhile takes precedence.
      if (message !== null) this.#wanted = { ...message, ...(this.#wanted as Fields | null) };
      this.#wantedAnswers ??= answers;
      throw error;
    }
    // With the version that the service has now.
    if (this.#hasWork) this.#copy();
    else this.#ports.copies.drop(this.#ports.key);
    if (this.#isClosed) this.#leave();
    this.#ports.tell('saved');
  }

  /** A version that is new to this window does not come from another window if it contains what this one asked to store. */
  async #change(draft: Draft, change: DraftRequest): Promise<Draft> {
    const { drafts } = this.#ports;
    try {
      return await drafts.change(draft.id, draft.version, change, optionsOf(change));
    } catch (error) {
      const isChanged = codeOf(error) === 'draft_changed';
      if (!isChanged || this.#unsure.length === 0) throw error;
      const found = await drafts.get(draft.id);
      if (!this.#unsure.some((message) => saysAll(found.message, message))) throw error;
      this.#draft = found;
      return drafts.change(found.id, found.version, change, optionsOf(change));
    }
  }
}

const optionsOf = (request: DraftRequest): StoreOptions => ({
  keepalive: new TextEncoder().encode(JSON.stringify(request)).length <= MAX_KEEPALIVE_BYTES,
});

/** True if the draft has every field as wanted. */
export const saysAll = (found: Fields, wanted: Fields): boolean =>
  (Object.keys(wanted) as (keyof Fields)[]).every(
    (name) => JSON.stringify(found[name] ?? null) === JSON.stringify(wanted[name] ?? null),
  );
