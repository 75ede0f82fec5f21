/** Lists that are read page by page. */

export interface Page<Item> {
  readonly items: readonly Item[];
  /** The cursor of the next page; null on the last one. */
  readonly nextCursor: string | null;
}

/**
 * A list. No request is made until it is read: item by item (`for await (const item of list)`), one page (`await list.page()`), or page
 * after page (`for await (const page of list.pages())`).
 */
export class Pages<Item> implements AsyncIterable<Item> {
  readonly #read: (cursor: string | undefined) => Promise<Page<Item>>;
  readonly #start: string | undefined;

  /** @internal */
  constructor(start: string | undefined, read: (cursor: string | undefined) => Promise<Page<Item>>) {
    this.#start = start;
    this.#read = read;
  }

  /** The page at `cursor`, which is the `nextCursor` of the page before. Default: the first page, or the list's `cursor`. */
  page(cursor?: string | null): Promise<Page<Item>> {
    return this.#read(cursor ?? this.#start);
  }

  async *pages(): AsyncGenerator<Page<Item>, void, undefined> {
    let cursor = this.#start;
    do {
      const page = await this.#read(cursor);
      yield page;
      cursor = page.nextCursor ?? undefined;
    } while (cursor !== undefined);
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Item, void, undefined> {
    for await (const page of this.pages()) yield* page.items;
  }
}
