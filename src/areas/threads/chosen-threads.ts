/** Threads that one request is about: those that it names, or those that its filters find, page by page. */
import type { ErrorCode } from '../../core/error-registry.ts';
import { invalidRequest, ServiceError } from '../../core/errors.ts';
import type { AccountOf } from '../../platform/access/account-of.ts';
import type { ValueOf } from '../../platform/operation/values.ts';
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

export interface ChoosingDeps extends Pick<ThreadUseCases, 'listThreads'> {
  readonly accountOf: Pick<AccountOf, 'thread'>;
}

interface Chosen {
  readonly ids: readonly string[];
  /** null: these were the last. */
  readonly nextCursor: string | null;
}

/** Throws `invalid_request` without ids and filters, and for both; `invalid_cursor`. */
export async function chooseThreads(
  { ids, limit, cursor, within, ...filters }: Choice,
  { listThreads }: ChoosingDeps,
): Promise<Chosen> {
  const isFiltered = Object.values(filters).some((value) => value !== undefined);
  if (ids !== undefined) {
    if (isFiltered || cursor !== undefined)
      throw invalidRequest('not_with', { field: 'ids', other: 'filters' });
    return { ids: [...new Set(ids.toLowerCase().split(','))], nextCursor: null };
  }
  if (!isFiltered) throw invalidRequest('needs_filter', { field: 'ids' });
  const { threads, nextCursor } = await listThreads({
    ...requestOf(filters),
    within,
    limit,
    cursor: cursor ?? null,
  });
  return { ids: threads.map(({ id }) => id), nextCursor };
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

/**
 * Does `work` for one thread after the other, until the service begins to stop. Its ServiceErrors are results, except those that are the same
 * for all.
 *
 * @param within accounts that the caller sees; null: all
 */
export async function doForEach<Outcome>(
  {
    ids,
    within,
    signal,
  }: {
    readonly ids: readonly string[];
    readonly within: readonly string[] | null;
    readonly signal: AbortSignal;
  },
  { accountOf }: Pick<ChoosingDeps, 'accountOf'>,
  work: (id: string) => Promise<{ readonly id: string; readonly outcome: Outcome }>,
): Promise<Result<Outcome>[]> {
  const results: Result<Outcome>[] = [];
  for (const id of ids) {
    if (signal.aborted) throw new ServiceError('shutting_down');
    try {
      if (within !== null && !within.includes((await accountOf.thread(id)) ?? ''))
        throw new ServiceError('thread_not_found');
      results.push({ ...(await work(id)), refusal: null });
    } catch (error) {
      if (!(error instanceof ServiceError) || OF_ALL.has(error.code)) throw error;
      const { code, text, englishText } = error;
      results.push({ id, outcome: 'refused', refusal: { code, error: text, message: englishText } });
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
]);
