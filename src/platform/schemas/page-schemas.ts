/** The common parameters and answers of all paginated lists. */
import type { PageRequest } from '../base/paging.ts';
import type { ErrorCode } from '../../core/error-registry.ts';
import { MAX_QUERY_CHARS, type SearchParts } from '../../core/search/query.ts';

const DEFAULT_PAGE_LIMIT = 50;

/** The number of entries on a page. */
const PageLimit = {
  type: 'integer',
  minimum: 1,
  maximum: 200,
  default: DEFAULT_PAGE_LIMIT,
  description: 'Maximum number of entries on a page.',
} as const;

const PageCursor = {
  type: 'string',
  minLength: 1,
  maxLength: 512,
  description: '`next_cursor` of the previous page; absent for the first page.',
} as const;

const NextCursor = {
  title: 'NextCursor',
  $comment: 'For the next page; null on the last one.',
  type: ['string', 'null'],
} as const;

/** Query parameters of every paginated list. */
export const PAGE_PARAMETERS = { limit: PageLimit, cursor: PageCursor } as const;

export const AccountId = {
  title: 'AccountId',
  type: 'string',
  pattern: '^[a-z0-9][a-z0-9_-]{0,62}$',
} as const;

export const NullableAccountId = {
  ...AccountId,
  title: 'NullableAccountId',
  type: ['string', 'null'],
} as const;

/** Query parameter that searches emails. */
export const SearchQuery = {
  title: 'SearchQuery',
  $comment:
    'Words of the subject, people, file names or text. A word also finds longer ones that begin with it; `"in quotes"` ' +
    'finds a phrase, a minus excludes. Letter case and accents make no difference.',
  type: 'string',
  minLength: 1,
  maxLength: MAX_QUERY_CHARS,
} as const;

/** The same parameters for parts of an email. */
export const SEARCH_PART_PARAMETERS = {
  from: { ...SearchQuery, description: 'The same, of the names and addresses of the sender alone.' },
  to: { ...SearchQuery, description: 'The same, of the names and addresses of all recipients alone.' },
  subject: { ...SearchQuery, description: 'The same, of the subject alone.' },
} as const;

/** The same for lists whose cursor contains an address or a domain. */
export const LONG_PAGE_PARAMETERS = { limit: PageLimit, cursor: { ...PageCursor, maxLength: 2048 } } as const;

/** Query of a list whose only filter is the account. */
export const AccountPageQuery = {
  type: 'object',
  // A misspelt filter must not return more than was asked for.
  additionalProperties: false,
  properties: {
    account_id: { ...AccountId, description: 'Only of this account.' },
    ...PAGE_PARAMETERS,
  },
} as const;

/** Errors of any paginated list. */
export const PAGE_ERRORS = [
  'invalid_request',
  'invalid_cursor',
  'invalid_credentials',
  'database_unavailable',
] as const satisfies readonly ErrorCode[];

/** Errors of a list whose only filter is the account. */
export const ACCOUNT_PAGE_ERRORS = [
  ...PAGE_ERRORS,
  'unknown_account',
] as const satisfies readonly ErrorCode[];

/** The use case's input, from a query with PAGE_PARAMETERS. */
export function toPageRequest({ limit = DEFAULT_PAGE_LIMIT, cursor = null }: PageParameters): PageRequest {
  return { limit, cursor };
}

/** The use case's input, from a query with SEARCH_PART_PARAMETERS. */
export const toSearchParts = ({ from, to, subject }: SearchParts): SearchParts => ({ from, to, subject });

interface PageParameters {
  readonly limit?: number;
  readonly cursor?: string | null;
}

/** The same, from a query of `AccountPageQuery`. */
export function toAccountPage(query: PageParameters & { readonly account_id?: string }) {
  return { accountId: query.account_id ?? null, ...toPageRequest(query) };
}

/** One page: the items under `name`, and the cursor of the next page. */
export function pageSchema<const Name extends string, const Item extends object>(
  title: string,
  name: Name,
  items: Item,
) {
  const properties = { [name]: { type: 'array', items }, next_cursor: NextCursor };
  return {
    type: 'object',
    title,
    additionalProperties: false,
    required: [name, 'next_cursor'],
    properties: properties as Record<Name, { readonly type: 'array'; readonly items: Item }> & {
      readonly next_cursor: typeof NextCursor;
    },
  } as const;
}
