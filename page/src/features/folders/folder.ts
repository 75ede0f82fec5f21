/** A folder: a name in the address, and the request of its list. */
import type { CustomerListing, DraftFilter, EmailFilter, ThreadFilter } from 'email-worker-client';
import type { Messages } from '../../i18n/en.ts';
import type { Search } from '../search/search-language.ts';

/** Folders of threads, in the order on screen. */
export const THREAD_FOLDERS = ['open', 'unanswered', 'unread', 'mine', 'done', 'spam'] as const;
/** Folders of single emails that went out, or that did not. */
export const EMAIL_FOLDERS = ['drafts', 'scheduled', 'sent', 'failed', 'unknown'] as const;

export type FixedFolder = (typeof THREAD_FOLDERS)[number] | (typeof EMAIL_FOLDERS)[number];

export type Source =
  | { readonly kind: 'threads'; readonly filter: ThreadFilter }
  | { readonly kind: 'emails'; readonly filter: EmailFilter }
  | { readonly kind: 'drafts'; readonly filter: DraftFilter };

export interface Folder {
  readonly key: string;
  readonly title: string;
  readonly source: Source;
  readonly empty: keyof Messages['list']['empty'];
  /** The search text; null for a folder. */
  readonly query: string | null;
  readonly search: Search | null;
  /** Customers among whom the reader has to choose; empty: no customer has the name. null: there is nothing to choose. */
  readonly choice: readonly CustomerListing[] | null;
  /** True once the request is known. */
  readonly isReady: boolean;
}

const PLAIN = { query: null, search: null, choice: null, isReady: true } as const;

export const accountFolder = (account: string): string => `account:${account}`;
export const labelFolder = (label: string): string => `label:${label}`;

const isFixed = (key: string): key is FixedFolder =>
  ([...THREAD_FOLDERS, ...EMAIL_FOLDERS] as string[]).includes(key);

function sourceOf(key: FixedFolder, me: string | null): Source {
  switch (key) {
    case 'open':
      return { kind: 'threads', filter: { status: 'open' } };
    case 'unanswered':
      return { kind: 'threads', filter: { status: 'open', unanswered: true } };
    case 'unread':
      return { kind: 'threads', filter: { status: 'open', unread: true } };
    case 'mine':
      return { kind: 'threads', filter: { status: 'open', ...(me === null ? {} : { assignee: me }) } };
    case 'done':
      return { kind: 'threads', filter: { status: 'done' } };
    case 'spam':
      return { kind: 'threads', filter: { status: 'spam' } };
    case 'drafts':
      return { kind: 'drafts', filter: {} };
    case 'scheduled':
      return { kind: 'emails', filter: { state: 'queued' } };
    case 'sent':
    case 'failed':
    case 'unknown':
      return { kind: 'emails', filter: { state: key } };
  }
}

/** The folder of an address; null when there is none. @param me the id of the reader's key; null: threads can't be assigned to the reader */
export function readFolder(key: string, me: string | null, text: Messages): Folder | null {
  if (key === 'mine' && me === null) return null;
  if (isFixed(key)) return { ...PLAIN, key, title: text.folders[key], source: sourceOf(key, me), empty: key };
  const at = key.indexOf(':');
  const [kind, name] = [key.slice(0, at), key.slice(at + 1)];
  if (at === -1 || name === '') return null;
  if (kind === 'account')
    return {
      key,
      title: name,
      source: { kind: 'threads', filter: { status: 'open', account_id: name } },
      empty: 'account',
      ...PLAIN,
    };
  if (kind === 'label')
    return {
      key,
      title: name,
      source: { kind: 'threads', filter: { status: 'open', label: name } },
      empty: 'label',
      ...PLAIN,
    };
  return null;
}

export function searchFolder(
  query: string,
  search: Search,
  text: Messages,
  choice: readonly CustomerListing[] | null,
  isReady: boolean,
): Folder {
  return {
    key: `search:${query}`,
    title: text.search.title(query),
    source: { kind: 'threads', filter: search.filter },
    empty: 'search',
    query,
    search,
    choice,
    isReady,
  };
}
