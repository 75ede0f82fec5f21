/**
 * `KnownAddresses` on PostgreSQL: completes typed text, in one statement.
 *
 * There are two ways, as for searches (search-plan.ts). First, the addresses of an account are walked in the order of their rank for some
 * thousand rows, which fills the answer when many addresses fit. If the walk does not fill it, few fit, and they are looked up by their
 * words, each of which is a row. So neither a single letter nor a rare name reads more than some thousand rows, however many addresses
 * there are.
 */
import { MAX_TYPED_WORDS, type TypedWord } from '../../core/address/typed-address.ts';
import { matchOf } from '../customers/match-customer.ts';
import { run, statements, type Executor } from '../../platform/db/statement.ts';

export interface AddressesQuery {
  /** At least one. */
  readonly accountIds: readonly string[];
  /** All of them have to match; if empty, the addresses that matter most are returned. */
  readonly words: readonly TypedWord[];
  /** Left out, lower-case. */
  readonly ownAddresses: readonly string[];
  readonly limit: number;
}

export interface KnownAddress {
  /** `local@domain`, ASCII letters lower-case. */
  readonly address: string;
  /** The newest name that can be trusted; empty when there is none. */
  readonly name: string;
  /** By the customer rules for the address; null when no customer has it, or several have. */
  readonly customerId: string | null;
  readonly customerName: string | null;
  /** We have sent an email to it. */
  readonly isWrittenTo: boolean;
  /** The date of the newest email that mentions it. */
  readonly lastAt: Date;
  /** Nothing is sent to it. */
  readonly isSuppressed: boolean;
}

/** All throw `ServiceError('database_unavailable')`. */
export interface KnownAddresses {
  /** In one round trip. Addresses used recently, used often, and written to come first. */
  complete(query: AddressesQuery): Promise<readonly KnownAddress[]>;
}

/** Addresses that a walk looks at: in all accounts together, and the minimum for each account. Takes some 2 ms. */
const WALKED = 2000;
const WALKED_OF_ONE = 100;

/** Addresses that are looked up by a word: in all accounts together, and the minimum for each account. Takes some 10 ms. */
const LOOKED_UP = 5000;
const LOOKED_UP_OF_ONE = 500;

/** Rows that are counted to find the rarest of several words. */
const COUNTED = 1000;

/** Sorts after every word with the same beginning. */
const LAST_CHARACTER = '\u{10FFFF}';

export function createKnownAddresses(pool: Executor): KnownAddresses {
  return {
    async complete(query) {
      if (query.accountIds.length === 0) return [];
      const rows = await run(pool, COMPLETE.of({ words: query.words.length }), valuesOf(query));
      return rows.map((row): KnownAddress => ({
        address: row.address,
        name: row.name,
        customerId: row.customer_id,
        customerName: row.customer_name,
        isWrittenTo: row.is_written_to,
        lastAt: row.last_at,
        isSuppressed: row.is_suppressed,
      }));
    },
  };
}

function valuesOf({ accountIds, words, ownAddresses, limit }: AddressesQuery) {
  const behindLineFeed = (word: TypedWord | undefined) =>
    word === undefined ? null : word.map((form) => `\n${form}`);
  return {
    accountIds: [...accountIds],
    ownAddresses: [...ownAddresses],
    limit,
    steps: Math.max(WALKED_OF_ONE, Math.ceil(WALKED / accountIds.length)),
    lookUps: Math.max(LOOKED_UP_OF_ONE, Math.ceil(LOOKED_UP / accountIds.length)),
    numbers: words.flatMap((word, index) => word.map(() => index)),
    froms: words.flat(),
    tos: words.flat().map((form) => `${form}${LAST_CHARACTER}`),
    word1: behindLineFeed(words[0]),
    word2: behindLineFeed(words[1]),
    word3: behindLineFeed(words[2]),
    word4: behindLineFeed(words[3]),
  };
}

/** True if each typed word begins a word of the address `k`. A typed word has two forms at most. */
const fits = (words: number): string =>
  Array.from(
    { length: words },
    (_, index) =>
      `(strpos(k.words, ($word${index + 1}::text[])[1]) > 0 or strpos(k.words, ($word${index + 1}::text[])[2]) > 0)`,
  )
    .map((condition) => `${condition} is true`)
    .join(' and ') || 'true';

/** A mailbox of our own is never offered. */
const OTHERS_THAN_OWN = 'k.address <> all ($ownAddresses::text[])';

/** Ends as soon as an account has filled the answer; the very last step returns a row whether it fits or not. */
const WALK = (words: number) => `
  select a.account_id, k.address, k.rank, k.fits, k.is_end
  from unnest($accountIds::text[]) a (account_id) cross join lateral (
    select k.address, k.rank, k.fits, k.n = $steps::int as is_end
    from (
      select k.address, k.rank, (${fits(words)}) and ${OTHERS_THAN_OWN} as fits,
        row_number() over (order by k.rank desc, k.address) as n
      from known_addresses k where k.account_id = a.account_id
      order by k.rank desc, k.address limit $steps::int
    ) k
    where k.fits or k.n = $steps::int
    order by k.rank desc, k.address limit $limit::int
  ) k`;

/** The typed words, a row for each form. */
const FORMS = 'unnest($numbers::int[], $froms::text[], $tos::text[]) t (number, low, high)';

const OF_FORM = 'w.account_id = i.account_id and w.word >= t.low and w.word < t.high';

/** The word that the fewest addresses have; if only one word was typed, that one. */
const RAREST = (words: number) =>
  words === 1
    ? '0'
    : `(
      select t.number from ${FORMS} cross join lateral (
        select count(*) as count from (
          select from known_address_words w where ${OF_FORM} limit ${COUNTED}
        ) w
      ) c group by t.number order by sum(c.count), t.number limit 1
    )`;

const LOOK_UP = (words: number) => `
  select i.account_id, k.address, k.rank
  from (select account_id, (${RAREST(words)}) as rarest from unfilled i offset 0) i cross join lateral (
    select k.address, k.rank
    from (
      select distinct w.address
      from ${FORMS} cross join lateral (
        select w.address from known_address_words w where ${OF_FORM} order by w.word, w.address limit $lookUps::int
      ) w
      where t.number = i.rarest
    ) w cross join lateral (
      select k.* from known_addresses k where k.account_id = i.account_id and k.address = w.address offset 0
    ) k
    where ${fits(words)} and ${OTHERS_THAN_OWN}
    order by k.rank desc, k.address limit $limit::int
  ) k`;

const COMPLETE = statements(
  'complete-addresses',
  { words: Array.from({ length: MAX_TYPED_WORDS + 1 }, (_, index) => index) },
  ({ words }) => `with walked as materialized (${WALK(words)}
  ), unfilled as materialized (
    select account_id from walked group by account_id
    having bool_or(is_end) and count(*) filter (where fits) < $limit::int
  ), found as (
    select account_id, address, rank from walked
    where fits and account_id not in (select account_id from unfilled)
    ${words === 0 ? '' : `union all ${LOOK_UP(words)}`}
  ), best as (
    select address, max(rank) as rank from found group by address order by 2 desc, 1 limit $limit::int
  )
  select b.address, n.name, n.is_written_to, n.last_at, m.customer_id, c.name as customer_name,
    exists (select from suppressions s where s.address = b.address and s.lifted_at is null) as is_suppressed
  from best b
  cross join lateral (
    -- Of several accounts, the one that used it last has its newest name.
    select coalesce((array_agg(k.name order by k.last_at desc) filter (where k.name <> ''))[1], '') as name,
      bool_or(k.is_written_to) as is_written_to, max(k.last_at) as last_at
    from known_addresses k where k.account_id = any ($accountIds::text[]) and k.address = b.address
  ) n
  cross join lateral ${matchOf('array[b.address]', '$accountIds::text[]', 'true')} m
  left join customers c on c.customer_id = m.customer_id
  order by b.rank desc, b.address`,
).narrow<{
  address: string;
  name: string;
  is_written_to: boolean;
  last_at: Date;
  customer_id: string | null;
  customer_name: string | null;
  is_suppressed: boolean;
}>();
