/**
 * Keeps what is on screen of a long list true. An event may concern any line, so after one all loaded pages count as old; those on screen are
 * loaded again at once, from the first old one on screen to the last, and the others when the reader comes to them. The cost is the same
 * however far the reader has scrolled.
 */

export interface ListPage {
  /** The cursor of the next page; null: it is the last one. */
  readonly next: string | null;
}

export interface ListData<Page extends ListPage> {
  readonly pages: readonly Page[];
  /** The cursor of each page; null for the first. */
  readonly pageParams: readonly (string | null)[];
}

export interface LiveListPorts<Page extends ListPage> {
  readonly load: (cursor: string | null) => Promise<Page>;
  /** Undefined: nothing is loaded yet. */
  readonly read: () => ListData<Page> | undefined;
  readonly write: (data: ListData<Page>) => void;
  /** Ends loads that began before, which would replace what is written. */
  readonly stopLoads: () => Promise<void>;
}

/** The first pages are loaded together: the reader who goes on from the top finds them. */
const KEPT_PAGES = 3;
const RETRY_MS = 3000;

export class LiveList<Page extends ListPage> {
  readonly #ports: LiveListPorts<Page>;
  /** Counts the events. */
  #version = 0;
  /** The version at which a page was loaded. */
  readonly #loadedAt = new WeakMap<Page, number>();
  #first = 0;
  #last = 0;
  #isRunning = false;
  /** Something happened before anything was loaded: what arrives may be older than that. */
  #isEarly = false;
  /** Something happened since the last look at what is old. */
  #isAsked = false;
  #isEnded = false;
  #timer: ReturnType<typeof setTimeout> | null = null;

  constructor(ports: LiveListPorts<Page>) {
    this.#ports = ports;
  }

  /** Any line may have changed. */
  touch(): void {
    this.#see();
    this.#isEarly = this.#ports.read() === undefined;
    this.#version += 1;
    void this.#run();
  }

  /** The pages on screen, counted from 0. */
  show(first: number, last: number): void {
    this.#see();
    this.#first = first;
    this.#last = last;
    void this.#run();
  }

  /** Lines that were loaded before are looked at anew. */
  begin(): void {
    this.#isEnded = false;
    if (this.#ports.read() !== undefined) this.touch();
  }

  end(): void {
    this.#isEnded = true;
    if (this.#timer !== null) clearTimeout(this.#timer);
  }

  /** A page that is seen for the first time has just been loaded. */
  #see(): void {
    const pages = this.#ports.read()?.pages ?? [];
    for (const page of pages)
      if (!this.#loadedAt.has(page)) this.#loadedAt.set(page, this.#version - (this.#isEarly ? 1 : 0));
    if (pages.length > 0) this.#isEarly = false;
  }

  #isOld(page: Page | undefined): boolean {
    return page !== undefined && (this.#loadedAt.get(page) ?? this.#version) < this.#version;
  }

  async #run(): Promise<void> {
    this.#isAsked = true;
    if (this.#isRunning) return;
    this.#isRunning = true;
    try {
      while (this.#isAsked && !this.#isEnded) {
        this.#isAsked = false;
        if (await this.#refresh()) this.#isAsked = true;
      }
    } catch {
      // The lines that are there stay; the page says elsewhere that the service can't be reached.
      if (!this.#isEnded) this.#timer = setTimeout(() => void this.#run(), RETRY_MS);
    } finally {
      this.#isRunning = false;
    }
  }

  /** Loads the old pages on screen. False when there are none. */
  async #refresh(): Promise<boolean> {
    const { load, read, write, stopLoads } = this.#ports;
    const data = read();
    if (data === undefined) return false;
    const shown = Math.min(this.#last, data.pages.length - 1);
    const from = data.pages.findIndex(
      (page, index) => index >= this.#first && index <= shown && this.#isOld(page),
    );
    if (from === -1) return false;
    const to = from === 0 ? Math.max(shown, Math.min(KEPT_PAGES, data.pages.length) - 1) : shown;
    const version = this.#version;
    const pages: Page[] = [];
    const pageParams: (string | null)[] = [];
    let cursor = data.pageParams[from] ?? null;
    for (let index = from; index <= to && (index === from || cursor !== null); index++) {
      const page = await load(cursor);
      pages.push(page);
      pageParams.push(cursor);
      cursor = page.next;
    }
    await stopLoads();
    const now = read();
    // The reader went to another list, or it was loaded anew.
    if (this.#isEnded || now === undefined || now.pageParams[from] !== data.pageParams[from]) return true;
    const goesOn = cursor !== null && now.pageParams[to + 1] === cursor;
    write({
      pages: [...now.pages.slice(0, from), ...pages, ...(goesOn ? now.pages.slice(to + 1) : [])],
      pageParams: [
        ...now.pageParams.slice(0, from),
        ...pageParams,
        ...(goesOn ? now.pageParams.slice(to + 1) : []),
      ],
    });
    // A page that did not change may still be the previous object.
    const written = read()?.pages.slice(from, from + pages.length) ?? [];
    for (const page of written) this.#loadedAt.set(page, version);
    return true;
  }
}
