/** Threads that one request is about: those that it names, or those that its filters find, page by page. */
import type { ErrorCode } from '../../core/error-registry.ts';
import { invalidRequest, ServiceError } from '../../core/errors.ts';
import type { AccountOf } from '../../platform/access/account-of.ts';
import { camelCase, type ValueOf } from '../../platform/operation/values.ts';
import { PAGE_PARAMETERS } from '../../platform/schemas/page-schemas.ts';
import { record, Uuid, UUID_PATTERN } from '../../platform/schemas/schemas.ts';
import { requestOf, THREAD_FILTERS } from './thread-filters.ts';
import type { ThreadUseCases } from './use-cases.ts';

/** Threads that a request may name: their ids have to fit into its first line. */
export const MAX_NAMED_THREADS = 100;

const UUID = UUID_PATTERN.slice(1, -1);

export const CHOSEN_THREADS = {
  ids: {
    type: 'string',
    pattern: `^${UUID}(?:,${UUID}){0,${MAX_NAMED_THREADS - 1}}$`,
    description: `Up to ${MAX_NAMED_THREADS} thread ids, with commas between them; not together with filters.`,
  },
  ...THREAD_FILTERS,
  ...PAGE_PARAMETERS,
} as const;

type Choice = ValueOf<typeof CHOSEN_THREADS> & { readonly within: readonly string[] | null };

export interface ChoosingDeps {
  /** From the database that is written to: a replica may still show what a thread no longer is. */
  readonly findThreads: ThreadUseCases['listThreads'];
  readonly accountOf: Pick<AccountOf, 'thread'>;
}

/** A thread to act on. */
export interface ChosenThread {
  readonly id: string;
  /** The newest email that it had when a filter found it: with another one it may no longer be what was meant. null: it was named. */
  readonly newestEmailId: string | null;
}

interface Chosen {
  readonly threads: readonly ChosenThread[];
  /** null: these were the last. */
  readonly nextCursor: string | null;
}

/** Throws `invalid_request` without ids and filters, and for both; `invalid_cursor`. */
export async function chooseThreads(
  { ids, limit, cursor, within, ...filters }: Choice,
  { findThreads }: Pick<ChoosingDeps, 'findThreads'>,
): Promise<Chosen> {
  const isFiltered = Object.values(filters).some((value) => value !== undefined);
  if (ids !== undefined) {
    if (isFiltered || cursor !== undefined)
      throw invalidRequest('not_with', { field: 'ids', other: 'filters' });
    const named = new Set(ids.toLowerCase().split(','));
    return { threads: [...named].map((id) => ({ id, newestEmailId: null })), nextCursor: null };
  }
  if (!isFiltered) throw invalidRequest('needs_filter', { field: 'ids' });
  const { threads, nextCursor } = await findThreads({
    ...requestOf(filters),
    within,
    limit,
    cursor: cursor ?? null,
  });
  return {
    threads: threads.map(({ id, newestEmail }) => ({ id, newestEmailId: newestEmail.id })),
    nextCursor,
  };
}

/** One mistake or refusal, without what belongs to a whole answer. */
const Refusal = {
  ...record('ThreadRefusal', {
    code: { title: 'ErrorCode', type: 'string', pattern: '^[a-z0-9_]+$' },
    error: { type: 'string', description: 'German text for people.' },
    message: { type: 'string', description: 'The same in English.' },
  }),
  type: ['object', 'null'],
  description: 'Why it was refused; null when it was not.',
} as const;

/** The answer of an act on many threads. */
export const ThreadResults = record('ThreadResults', {
  results: {
    type: 'array',
    items: record('ThreadResult', {
      id: {
        ...Uuid,
        description: 'Differs from the requested id when that thread was merged into this one.',
      },
      outcome: { type: 'string', enum: ['changed', 'unchanged', 'deleted', 'refused'] },
      refusal: Refusal,
    }),
    description: 'One result for each thread; what is refused for one of them stops no other.',
  },
  next_cursor: {
    type: ['string', 'null'],
    description: 'For the next threads that the filters find; null when these were the last, and with `ids`.',
  },
});

interface Result<Outcome> {
  readonly id: string;
  readonly outcome: Outcome | 'refused';
  readonly refusal: { readonly code: ErrorCode; readonly error: string; readonly message: string } | null;
}

/** What one request is about. */
interface Acting {
  readonly threads: readonly ChosenThread[];
  /** Accounts that the caller sees; null: all. */
  readonly within: readonly string[] | null;
  /** Aborted when the service begins to stop. */
  readonly signal: AbortSignal;
}

/**
 * Does `work` for one thread after the other. Its ServiceErrors are results. One that is the same for all ends the work: it is thrown when
 * nothing was done before, and is else the result of the threads that are left, so that the caller knows what was done.
 */
export async function doForEach<Outcome>(
  { threads, within, signal }: Acting,
  { accountOf }: Pick<ChoosingDeps, 'accountOf'>,
  work: (thread: ChosenThread) => Promise<{ readonly id: string; readonly outcome: Outcome }>,
): Promise<Result<Outcome>[]> {
  const results: Result<Outcome>[] = [];
  let end: ServiceError | null = null;
  for (const thread of threads) {
    if (signal.aborted) end ??= new ServiceError('shutting_down');
    try {
      if (end !== null) throw end;
      if (within !== null && !within.includes((await accountOf.thread(thread.id)) ?? ''))
        throw new ServiceError('thread_not_found');
      results.push({ ...(await work(thread)), refusal: null });
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error;
      if (OF_ALL.has(error.code)) end ??= error;
      if (end !== null && results.every(({ outcome }) => outcome === 'refused')) throw end;
      const { code, text, englishText } = error;
      results.push({
        id: thread.id,
        outcome: 'refused',
        refusal: { code, error: text, message: englishText },
      });
    }
  }
  return results;
}

/** Whatever the thread: the request is repeated, and what it has done already is not done twice. */
const OF_ALL: ReadonlySet<ErrorCode> = new Set([
  'database_unavailable',
  'commit_unknown',
  'clock_skewed',
  'clock_in_doubt',
  'storage_mismatch',
  'storage_unavailable',
  'shutting_down',
]);

/** Threads of an act that are logged: as many as a page has. */
const MAX_LOGGED = 200;

/** What an act on many threads is about, for the log: the names of its filters, whose values may name a person. */
export const toldChoice = ({ ids, limit: _limit, cursor: _cursor, ...filters }: Partial<Choice>) => ({
  ...(ids === undefined ? {} : { ids }),
  filters: Object.entries(filters).flatMap(([name, value]) =>
    value === undefined || !(name in FILTER_NAMES) ? [] : [name],
  ),
});

const FILTER_NAMES = Object.fromEntries(Object.keys(THREAD_FILTERS).map((name) => [camelCase(name), true]));

/** The threads of which this became. */
export function toldThreads(
  results: readonly { readonly id: string; readonly outcome: string }[],
  wanted: 'changed' | 'deleted',
) {
  const ids = results.flatMap(({ id, outcome }) => (outcome === wanted ? [id] : []));
  return { threadIds: ids.slice(0, MAX_LOGGED), threadCount: ids.length };
}
