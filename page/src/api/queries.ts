/** The page's requests to the service, each under its cache key. */
import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query';
import type { Draft, Page, ThreadFilter } from 'email-worker-client';
import type { Source } from '../features/folders/folder.ts';
import { toDraftRow, toEmailRow, toThreadRow, type Row } from '../features/threads/rows.ts';
import { discardedCount, isDiscarded } from '../features/write/discarded-drafts.ts';
import { draftsAreKept } from '../features/write/draft-keeper.ts';
import { client } from './client.ts';
import { codeOf } from './failure.ts';
import { readSession } from './session.ts';

const LIST_PAGE = 50;
const THREAD_PAGE = 50;

export const keys = {
  session: ['session'],
  folders: ['folders'],
  lists: ['list'],
  list: (source: Source) => ['list', source.kind, source.filter],
  customer: (id: string) => ['customer', id],
  email: (id: string) => ['email', id],
  safeHtml: (emailId: string) => ['html', emailId],
  threadDraft: (threadId: string) => ['draft', threadId],
  allThreadDrafts: ['drafts-of'],
  threadDrafts: (threadId: string) => ['drafts-of', threadId],
  draft: (id: string) => ['new-draft', id],
  accounts: ['accounts'],
  assignees: (accountId: string | undefined) => ['assignees', accountId ?? null],
  customers: (name: string) => ['customers', name],
  templates: ['templates'],
  addresses: (q: string) => ['addresses', q],
  replyPreview: (asked: ReplyPreviewOf) => ['reply', asked],
  threads: ['thread'],
  thread: (id: string) => ['thread', id],
} as const;

export const sessionQuery = queryOptions({
  queryKey: keys.session,
  queryFn: ({ signal }) => readSession(signal),
  staleTime: Infinity,
});

/** @param me the id of the reader's key; null: none, so no thread is assigned to the reader */
export const foldersQuery = (me: string | null) =>
  queryOptions({
    queryKey: [...keys.folders, me],
    queryFn: async ({ signal }) => {
      const folders = await client.threads.folders(me === null ? {} : { assignee: me }, { signal });
      return { ...folders, drafts: Math.max(0, folders.drafts - discardedCount()) };
    },
  });

export interface RowPage {
  readonly rows: readonly Row[];
  readonly next: string | null;
}

export const listQuery = (source: Source) =>
  infiniteQueryOptions({
    queryKey: keys.list(source),
    queryFn: ({ pageParam, signal }) => readRows(source, pageParam, signal),
    initialPageParam: null as string | null,
    getNextPageParam: (last: RowPage) => last.next,
  });

export async function readRows(
  source: Source,
  cursor: string | null,
  signal?: AbortSignal,
): Promise<RowPage> {
  const options = { signal };
  switch (source.kind) {
    case 'threads':
      return readThreads(source.filter, cursor, options);
    case 'emails':
      return toPage(
        await client.emails.list({ ...source.filter, limit: LIST_PAGE }, options).page(cursor),
        toEmailRow,
      );
    case 'drafts': {
      await draftsAreKept();
      const page = toPage(
        await client.drafts.list({ ...source.filter, limit: LIST_PAGE }, options).page(cursor),
        toDraftRow,
      );
      return { ...page, rows: page.rows.filter(({ id }) => !isDiscarded(id)) };
    }
  }
}

/** In lists of open threads, what was not delivered comes first. Its threads stand at their own place, too; the list shows each once. */
async function readThreads(
  filter: ThreadFilter,
  cursor: string | null,
  options: { readonly signal: AbortSignal | undefined },
): Promise<RowPage> {
  const list = (more: ThreadFilter, from: string | null) =>
    client.threads.list({ ...filter, ...more, limit: LIST_PAGE }, options).page(from);
  const isFirst = filter.status === 'open' && cursor === null;
  const [first, page] = await Promise.all([
    isFirst ? list({ undelivered: true }, null) : null,
    list({}, cursor),
  ]);
  const { rows, next } = toPage(page, toThreadRow);
  return { rows: [...(first?.items.map(toThreadRow) ?? []), ...rows], next };
}

const toPage = <Item>(page: Page<Item>, toRow: (item: Item) => Row): RowPage => ({
  rows: page.items.map(toRow),
  next: page.nextCursor,
});

/** The first page has the newest emails; further pages have the ones before. */
export const threadQuery = (id: string) =>
  infiniteQueryOptions({
    queryKey: keys.thread(id),
    queryFn: ({ pageParam, signal }) =>
      client.threads.page(
        id,
        { limit: THREAD_PAGE, ...(pageParam === null ? {} : { cursor: pageParam }) },
        { signal },
      ),
    initialPageParam: null as string | null,
    getNextPageParam: (last) => last.next_cursor,
  });

export const customerQuery = (id: string) =>
  queryOptions({
    queryKey: keys.customer(id),
    queryFn: ({ signal }) => client.customers.get(id, { signal }),
  });

/** An email with what a thread does not show of it. */
export const emailQuery = (id: string) =>
  queryOptions({
    queryKey: keys.email(id),
    queryFn: ({ signal }) => client.emails.get(id, { signal }),
  });

/** The parts left out of the HTML of an email; the frame loads the HTML itself. */
export const safeHtmlQuery = (id: string) =>
  queryOptions({
    queryKey: keys.safeHtml(id),
    queryFn: ({ signal }) => client.emails.html(id, { signal }),
    staleTime: Infinity,
  });

/** More in one thread would be a mistake of a program. */
const MAX_THREAD_DRAFTS = 10;

/** The drafts of a thread that are not an answer of this author. */
export const threadDraftsQuery = (threadId: string, author: string) =>
  queryOptions({
    queryKey: keys.threadDrafts(threadId),
    queryFn: async ({ signal }) => {
      const { items } = await client.drafts
        .list({ thread_id: threadId, limit: MAX_THREAD_DRAFTS }, { signal })
        .page();
      const others = items.filter((draft) => draft.author !== author || draft.answers === null);
      const found = await Promise.all(others.map(({ id }) => readDraft(id, signal)));
      return found.filter(
        (draft) => draft !== null && !draft.being_sent && !isDiscarded(draft.id),
      ) as Draft[];
    },
  });

/** null: it was sent or discarded meanwhile. */
async function readDraft(id: string, signal: AbortSignal): Promise<Draft | null> {
  try {
    return await client.drafts.get(id, { signal });
  } catch (error) {
    if (codeOf(error) === 'draft_not_found') return null;
    throw error;
  }
}

/** The newest draft of this author in a thread; null when there is none. */
export const threadDraftQuery = (threadId: string, author: string) =>
  queryOptions({
    queryKey: keys.threadDraft(threadId),
    queryFn: async ({ signal }) => {
      await draftsAreKept();
      const { items } = await client.drafts
        .list({ thread_id: threadId, author, limit: MAX_THREAD_DRAFTS }, { signal })
        .page();
      const newest = items.find(({ id, answers }) => answers !== null && !isDiscarded(id));
      return newest === undefined ? null : client.drafts.get(newest.id, { signal });
    },
    // The newest version is in the author's window.
    staleTime: Infinity,
  });

/** The answered email, the kind of answer, and the language and the time zone of the quote. */
type ReplyPreviewOf = {
  readonly [Name in 'email_id' | 'kind' | 'language' | 'time_zone']: NonNullable<
    NonNullable<Draft['answers']>[Name]
  >;
};

export const replyPreviewQuery = ({ email_id: id, kind, language, time_zone }: ReplyPreviewOf) =>
  queryOptions({
    queryKey: keys.replyPreview({ email_id: id, kind, language, time_zone }),
    queryFn: ({ signal }) => client.emails.previewReply(id, { kind, language, time_zone }, { signal }),
  });

/** A draft as it was last saved, loaded again each time that it is opened. */
export const draftQuery = (id: string) =>
  queryOptions({
    queryKey: keys.draft(id),
    queryFn: async ({ signal }) => {
      await draftsAreKept();
      return client.drafts.get(id, { signal });
    },
    staleTime: Infinity,
    gcTime: 0,
  });

export const accountsQuery = queryOptions({
  queryKey: keys.accounts,
  queryFn: ({ signal }) => client.accounts.list({ signal }),
});

/** To whom threads of the account can be assigned; undefined: of any account. */
export const assigneesQuery = (accountId: string | undefined) =>
  queryOptions({
    queryKey: keys.assignees(accountId),
    queryFn: ({ signal }) =>
      client.threads.assignees(accountId === undefined ? {} : { account_id: accountId }, { signal }),
  });

/** A longer choice is of no use; the reader types more of the name. */
const OFFERED_CUSTOMERS = 10;

/** Customers with this text in their name or addresses. */
export const customersQuery = (name: string) =>
  queryOptions({
    queryKey: keys.customers(name),
    queryFn: async ({ signal }) =>
      (await client.customers.list({ q: name, limit: OFFERED_CUSTOMERS }, { signal }).page()).items,
  });

const OFFERED_ADDRESSES = 8;
const ADDRESSES_STALE_MS = 5000;

/** The suggestions for a recipient field. */
export const addressesQuery = (q: string) =>
  queryOptions({
    queryKey: keys.addresses(q),
    queryFn: ({ signal }) => client.addresses.complete({ q, limit: OFFERED_ADDRESSES }, { signal }),
    // The service learns the addresses of new mail with a short delay.
    staleTime: ADDRESSES_STALE_MS,
  });

/** With more templates, a person would search by name instead of using a list. */
const OFFERED_TEMPLATES = 100;

/** The templates that an account may use, by name. */
export const templatesQuery = (accountId: string | undefined) =>
  queryOptions({
    queryKey: [...keys.templates, 'list', accountId ?? null],
    queryFn: async ({ signal }) => {
      const filter = accountId === undefined ? {} : { account_id: accountId };
      const { items } = await client.templates
        .list({ ...filter, limit: OFFERED_TEMPLATES }, { signal })
        .page();
      return items.toSorted((one, other) => one.name.localeCompare(other.name));
    },
  });

export const templateQuery = (id: string) =>
  queryOptions({
    queryKey: [...keys.templates, id],
    queryFn: ({ signal }) => client.templates.get(id, { signal }),
  });

export const templatePreviewQuery = (id: string, variables: Readonly<Record<string, unknown>>) =>
  queryOptions({
    queryKey: [...keys.templates, id, 'preview', variables],
    queryFn: ({ signal }) => client.templates.preview(id, { variables }, { signal }),
  });
