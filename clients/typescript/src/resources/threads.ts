/** `client.threads` */
import type { RequestOptions } from '../options.ts';
import type { Pages } from '../pages.ts';
import { plain, segment, type Attempt, type Transport } from '../transport.ts';
import type {
  AccountFilter,
  DeletedEmails,
  AssigneeFilter,
  AssigneeOption,
  FolderFilter,
  Folders,
  MergeRequest,
  MoveRequest,
  QueryOf,
  RefusedMerge,
  Schemas,
  SplitRequest,
  Thread,
  ThreadChange,
  ThreadDecision,
  ThreadFilter,
  ThreadMark,
  ThreadPage,
  ThreadPageFilter,
  ThreadRecord,
  ThreadResults,
  ThreadsChange,
  ThreadSelection,
  ThreadSummary,
} from '../types.ts';

const NOT_MODIFIED = 304;

/** A thread, and the tag that shows whether it has changed since. */
export interface TaggedThread {
  readonly thread: Thread;
  /** The value for `getIfChanged`. */
  readonly etag: string | null;
}

/** Threads: the emails that belong together. The id of a thread that was merged into another stays valid everywhere. */
export class Threads {
  readonly #transport: Transport;

  /** @internal */
  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** All emails of the thread, the oldest first. */
  async get(threadId: string, options: RequestOptions = {}): Promise<Thread> {
    const { api } = this.#transport;
    return this.#call(threadId, options, (attempt) => api.GET('/api/thread/{threadId}', attempt));
  }

  /** Like `get`; null when the thread has not changed since `etag`, which costs the service next to nothing. */
  async getIfChanged(
    threadId: string,
    etag: string | null = null,
    options: RequestOptions = {},
  ): Promise<TaggedThread | null> {
    const params = {
      path: { threadId: segment('threadId', threadId) },
      header: etag === null ? {} : { 'if-none-match': etag },
    };
    const call = {
      ...options,
      repeatable: true,
      isAnswer: (_body: unknown, status: number) => etag !== null && status === NOT_MODIFIED,
    };
    const { data, response } = await this.#transport.answer(call, (attempt) =>
      this.#transport.api.GET('/api/thread/{threadId}', { ...attempt, params }),
    );
    if (response.status === NOT_MODIFIED || data === undefined) return null;
    return { thread: data, etag: response.headers.get('etag') };
  }

  /** Deletes a thread with all its emails for ever. Not retried automatically; a repeat finishes a deletion that was cut off. */
  async delete(threadId: string, options: RequestOptions = {}): Promise<DeletedEmails> {
    const params = { path: { threadId: segment('threadId', threadId) } };
    return this.#transport.json({ ...options, repeatable: false }, (attempt) =>
      this.#transport.api.DELETE('/api/threads/{threadId}', { ...attempt, params }),
    );
  }

  /** How many emails `delete` would delete; nothing is deleted. */
  async checkDelete(threadId: string, options: RequestOptions = {}): Promise<DeletedEmails> {
    const { api } = this.#transport;
    return this.#call(threadId, options, ({ params, ...attempt }) =>
      api.DELETE('/api/threads/{threadId}', {
        ...attempt,
        params: { ...params, query: { dry_run: true } },
      }),
    );
  }

  /** Newest activity first; `q` searches. */
  list(filter: ThreadFilter = {}, options: RequestOptions = {}): Pages<ThreadSummary> {
    return this.#transport.pages(
      filter,
      options,
      (attempt, query: QueryOf<'listThreads'>) =>
        this.#transport.api.GET('/api/threads', { ...attempt, params: { query } }),
      (data) => data.threads,
    );
  }

  /** Marks every email that the thread has at that moment as read. */
  async markRead(threadId: string, options: RequestOptions = {}): Promise<ThreadMark> {
    const { api } = this.#transport;
    return this.#call(threadId, options, (attempt) => api.POST('/api/thread/{threadId}/read', attempt));
  }

  async markUnread(threadId: string, options: RequestOptions = {}): Promise<ThreadMark> {
    const { api } = this.#transport;
    return this.#call(threadId, options, (attempt) => api.POST('/api/thread/{threadId}/unread', attempt));
  }

  /** The counts for the folders of a page: threads by status, emails by state, labels, accounts. */
  async folders(filter: FolderFilter = {}, options: RequestOptions = {}): Promise<Folders> {
    const params = { query: plain<QueryOf<'countFolders'>>(filter) };
    return this.#transport.json({ ...options, repeatable: true }, (attempt) =>
      this.#transport.api.GET('/api/folders', { ...attempt, params }),
    );
  }

  /** To whom threads can be assigned: the keys that may read and answer in the account, or in any account. */
  async assignees(filter: AssigneeFilter = {}, options: RequestOptions = {}): Promise<AssigneeOption[]> {
    const params = { query: plain<QueryOf<'listAssignees'>>(filter) };
    const { assignees } = await this.#transport.json({ ...options, repeatable: true }, (attempt) =>
      this.#transport.api.GET('/api/assignees', { ...attempt, params }),
    );
    return assignees;
  }

  /** The thread's record, and a page of its emails with everything that a page shows, newest first. */
  async page(
    threadId: string,
    filter: ThreadPageFilter = {},
    options: RequestOptions = {},
  ): Promise<ThreadPage> {
    const query = plain<QueryOf<'getThreadPage'>>(filter);
    const params = { path: { threadId: segment('threadId', threadId) }, query };
    return this.#transport.json({ ...options, repeatable: true }, (attempt) =>
      this.#transport.api.GET('/api/threads/{threadId}', { ...attempt, params }),
    );
  }

  /**
   * Changes status, assignee, labels, customer or company.
   *
   * @param options.version the version that the caller knows: fails with the code `thread_changed` when the thread has another one by now
   */
  async change(
    threadId: string,
    change: ThreadChange,
    { version, ...options }: RequestOptions & { readonly version?: number } = {},
  ): Promise<ThreadRecord> {
    const body = plain<Schemas['ThreadChange']>(change);
    const header = version === undefined ? {} : { 'If-Match': `"${version}"` };
    const params = { path: { threadId: segment('threadId', threadId) }, header };
    // A repeat after a change that succeeded would find another version.
    return this.#transport.json({ ...options, repeatable: version === undefined }, (attempt) =>
      this.#transport.api.PATCH('/api/threads/{threadId}', { ...attempt, params, body }),
    );
  }

  /**
   * The same change for many threads, each judged for itself; with filters for one page of them, `next_cursor` names the next one.
   *
   * @param options.dryRun true: nothing is changed
   */
  async changeMany(
    selection: ThreadSelection,
    change: ThreadsChange,
    { dryRun = false, ...options }: RequestOptions & { readonly dryRun?: boolean } = {},
  ): Promise<ThreadResults> {
    const body = plain<Schemas['ThreadsChange']>(change);
    const params = { query: { ...selected(selection), dry_run: dryRun } };
    return this.#transport.json({ ...options, repeatable: true }, (attempt) =>
      this.#transport.api.PATCH('/api/threads', { ...attempt, params, body }),
    );
  }

  /** Deletes many threads for ever, each for itself; with filters one page of them. Not retried automatically. */
  async deleteMany(
    selection: ThreadSelection,
    { dryRun = false, ...options }: RequestOptions & { readonly dryRun?: boolean } = {},
  ): Promise<ThreadResults> {
    const params = { query: { ...selected(selection), dry_run: dryRun } };
    return this.#transport.json({ ...options, repeatable: dryRun }, (attempt) =>
      this.#transport.api.DELETE('/api/threads', { ...attempt, params }),
    );
  }

  /** Moves emails out of the thread, into a new one. */
  async split(
    threadId: string,
    request: SplitRequest,
    options: RequestOptions = {},
  ): Promise<ThreadDecision> {
    const body = plain<Schemas['SplitRequest']>(request);
    const { api } = this.#transport;
    return this.#call(threadId, options, (attempt) =>
      api.POST('/api/thread/{threadId}/split', { ...attempt, body }),
    );
  }

  /** Merges another thread into this one. */
  async merge(
    threadId: string,
    request: MergeRequest,
    options: RequestOptions = {},
  ): Promise<ThreadDecision> {
    const body = plain<Schemas['MergeRequest']>(request);
    const { api } = this.#transport;
    return this.#call(threadId, options, (attempt) =>
      api.POST('/api/thread/{threadId}/merge', { ...attempt, body }),
    );
  }

  /** What `merge` would answer; nothing is merged. */
  async checkMerge(
    threadId: string,
    request: MergeRequest,
    options: RequestOptions = {},
  ): Promise<ThreadDecision> {
    const body = plain<Schemas['MergeRequest']>(request);
    const { api } = this.#transport;
    return this.#call(threadId, options, ({ params, ...attempt }) =>
      api.POST('/api/thread/{threadId}/merge', {
        ...attempt,
        params: { ...params, query: { dry_run: true } },
        body,
      }),
    );
  }

  /** Moves emails of other threads into this one. */
  async move(threadId: string, request: MoveRequest, options: RequestOptions = {}): Promise<ThreadDecision> {
    const body = plain<Schemas['MoveRequest']>(request);
    const { api } = this.#transport;
    return this.#call(threadId, options, (attempt) =>
      api.POST('/api/thread/{threadId}/move', { ...attempt, body }),
    );
  }

  /** Merges that mail asked for and that were refused because the threads belong to two customers. */
  refusedMerges(filter: AccountFilter = {}, options: RequestOptions = {}): Pages<RefusedMerge> {
    return this.#transport.pages(
      filter,
      options,
      (attempt, query: QueryOf<'listRefusedMerges'>) =>
        this.#transport.api.GET('/api/refused-merges', { ...attempt, params: { query } }),
      (data) => data.refused_merges,
    );
  }

  /** A repeat of any of these changes nothing. */
  #call<Data>(
    threadId: string,
    options: RequestOptions,
    request: (
      attempt: Attempt & { readonly params: { readonly path: { threadId: string } } },
    ) => Promise<{ data?: Data; response: Response }>,
  ): Promise<NonNullable<Data>> {
    const params = { path: { threadId: segment('threadId', threadId) } };
    return this.#transport.json({ ...options, repeatable: true }, (attempt) =>
      request({ ...attempt, params }),
    );
  }
}

/** The ids are one parameter. */
const selected = ({ ids, ...filters }: ThreadSelection) =>
  plain<QueryOf<'changeThreads'>>({ ...filters, ...(ids === undefined ? {} : { ids: ids.join(',') }) });
