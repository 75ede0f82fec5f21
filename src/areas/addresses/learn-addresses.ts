/**
 * Learns addresses from emails, and forgets them with the emails. Only this module writes `address_mentions`, `known_addresses` and
 * `known_address_words`.
 *
 * The record of an address always follows from its newest mentions, so neither the order in which emails come nor how often one is read
 * matters. The address's row is locked before its mentions are read, and rows are locked in one order; the callers have locked the emails
 * before. So no two transactions wait for each other in a circle.
 */
import type { IsOwnAddress } from '../../core/accounts/sender-addresses.ts';
import type { AddressView } from '../../core/address/address-view.ts';
import { addressWords, MAX_MENTIONS, mentionsOf } from '../../core/address/mentions.ts';
import type { AuthVerdict } from '../../core/message/authentication.ts';
import { run, statement, type Executor, type RowOf } from '../../platform/db/statement.ts';

/** Mentions of each kind that decide how an address is used; older ones carry no weight beside them. */
const NEWEST = 64;

/** In days. After that time, a mention counts for a third (e^-1) of a new one. */
const FADES_AFTER = 30;

type AddressKey = RowOf<typeof FORGET>;

/** @param isOwn never learned */
export async function learnMentions(
  executor: Executor,
  emailIds: readonly string[],
  isOwn: IsOwnAddress,
): Promise<void> {
  const emails = await run(executor, READ_EMAILS, { emailIds });
  const mentions = emails.flatMap((email) =>
    mentionsOf(
      {
        direction: email.direction,
        from: email.from_address,
        recipients: email.recipients,
        isListed: email.is_listed,
        isAutomatic: email.is_automatic,
        verdict: email.verdict,
      },
      isOwn,
    ).map((mention) => ({ ...mention, email })),
  );
  const before = await run(executor, FORGET, { emailIds });
  if (mentions.length > 0) {
    await run(executor, MENTION, {
      emailIds: mentions.map(({ email }) => email.id),
      accountIds: mentions.map(({ email }) => email.account_id),
      addresses: mentions.map(({ address }) => address),
      kinds: mentions.map(({ kind }) => kind),
      ats: mentions.map(({ email }) => email.at),
      names: mentions.map(({ name }) => name),
    });
  }
  await renew(executor, [
    ...before,
    ...mentions.map(({ email, address }) => ({ account_id: email.account_id, address })),
  ]);
}

/** For emails that are about to be deleted. The caller has locked them. */
export async function forgetAddressesOf(executor: Executor, emailIds: readonly string[]): Promise<void> {
  await renew(executor, await run(executor, FORGET, { emailIds }));
}

async function renew(executor: Executor, keys: readonly AddressKey[]): Promise<void> {
  if (keys.length === 0) return;
  const columns = {
    accountIds: keys.map(({ account_id }) => account_id),
    addresses: keys.map(({ address }) => address),
  };
  await run(executor, LOCK, columns);
  // A separate statement, so that it sees the changes that were committed while LOCK waited.
  const rows = (await run(executor, READ, columns)).map((row) => {
    const words = row.mentions === 0 ? [] : addressWords(row.address, row.name);
    const old = row.words.split('\n').filter((word) => word !== '');
    return { ...row, words, old };
  });
  const known = rows.filter(({ mentions }) => mentions > 0);
  const gone = rows.filter(({ mentions }) => mentions === 0);
  const lost = rows.flatMap((row) => row.old.filter((word) => !row.words.includes(word)).map(toWord(row)));
  const found = rows.flatMap((row) => row.words.filter((word) => !row.old.includes(word)).map(toWord(row)));
  if (lost.length > 0) await run(executor, REMOVE_WORDS, wordColumns(lost));
  if (found.length > 0) await run(executor, ADD_WORDS, wordColumns(found));
  if (gone.length > 0) {
    await run(executor, REMOVE, {
      accountIds: gone.map(({ account_id }) => account_id),
      addresses: gone.map(({ address }) => address),
    });
  }
  if (known.length === 0) return;
  await run(executor, WRITE, {
    accountIds: known.map(({ account_id }) => account_id),
    addresses: known.map(({ address }) => address),
    names: known.map(({ name }) => name),
    ranks: known.map(({ rank }) => rank),
    areWrittenTo: known.map(({ is_written_to }) => is_written_to),
    lastAts: known.map(({ last_at }) => last_at),
    words: known.map(({ words }) => words.map((word) => `\n${word}`).join('')),
  });
}

interface Word extends AddressKey {
  readonly word: string;
}

const toWord =
  ({ account_id, address }: AddressKey) =>
  (word: string): Word => ({ account_id, address, word });

const wordColumns = (words: readonly Word[]) => ({
  accountIds: words.map(({ account_id }) => account_id),
  addresses: words.map(({ address }) => address),
  words: words.map(({ word }) => word),
});

/** Of a mailing, only the first recipients: the others would never be looked at. */
const READ_EMAILS = statement(
  'emails-to-learn-from',
  `select id, account_id::text as account_id, direction, from_address, email_activity_at(date, created_at) as at,
    jsonb_path_query_array(to_addresses || cc_addresses || bcc_addresses, '$[0 to ${MAX_MENTIONS}]') as recipients,
    email_is_listed(state) as is_listed, authentication ->> 'verdict' as verdict,
    case direction when 'outbound' then coalesce(automatic ->> 'kind' = 'auto_reply', false) else written_by <> 'person' end
      as is_automatic
  from emails where id = any ($emailIds::uuid[]) order by id`,
).narrow<{
  account_id: string;
  direction: 'inbound' | 'outbound';
  from_address: AddressView;
  recipients: AddressView[];
  at: Date;
  is_listed: boolean;
  is_automatic: boolean;
  verdict: AuthVerdict | null;
}>();

const FORGET = statement(
  'forget-mentions',
  `with forgotten as (
    delete from address_mentions where email_id = any ($emailIds::uuid[]) returning account_id, address
  )
  select distinct account_id::text as account_id, address from forgotten`,
).narrow<{ account_id: string; address: string }>();

const MENTION = statement(
  'mention-addresses',
  `insert into address_mentions (email_id, account_id, address, kind, at, name)
  select * from unnest($emailIds::uuid[], $accountIds::text[], $addresses::text[], $kinds::smallint[], $ats::timestamptz[],
    $names::text[])`,
);

const KEYS = `(select distinct a as account_id, b as address from unnest($accountIds::text[], $addresses::text[]) n (a, b))`;

/** A row that another transaction is removing is created again once that transaction has ended. */
const LOCK = statement(
  'lock-known-addresses',
  `insert into known_addresses as k (account_id, address)
  select account_id, address from ${KEYS} n order by account_id, address
  on conflict (account_id, address) do update set rank = k.rank`,
);

/** Weights by kind, for kinds 1 to 4: addresses that we write to come first. */
const WEIGHTS = `(array[0.25, 1, 1, 4])[m.kind]::float8`;

const READ = statement(
  'read-mentions',
  `select k.account_id::text as account_id, k.address, k.words, s.mentions, coalesce(s.is_written_to, false) as is_written_to,
    coalesce(s.last_at, '-infinity') as last_at, coalesce(s.name, '') as name,
    coalesce(round(24 * (extract(epoch from s.last_at) / 86400 + ${FADES_AFTER} * ln(s.weight)::numeric)), 0)::int as rank
  from ${KEYS} n join known_addresses k on k.account_id = n.account_id and k.address = n.address
  cross join lateral (
    select count(*)::int as mentions, bool_or(m.kind = 4) as is_written_to, max(m.last_at) as last_at,
      sum(${WEIGHTS} * exp(greatest(-50, extract(epoch from m.at - m.last_at)::float8 / 86400 / ${FADES_AFTER}))) as weight,
      -- Names of ours and of proven senders, then of senders that nothing is known of, then what others call them
      (array_agg(m.name order by least(m.kind, 3) desc, m.at desc, m.email_id desc) filter (where m.name <> ''))[1] as name
    from (
      select newest.*, max(at) over () as last_at
      from (values (1), (2), (3), (4)) kinds (kind) cross join lateral (
        select o.kind, o.at, o.name, o.email_id from address_mentions o
        where o.account_id = k.account_id and o.address = k.address and o.kind = kinds.kind
        -- Sends have the second alone; their identifiers grow.
        order by o.at desc, o.email_id desc limit ${NEWEST}
      ) newest
    ) m
  ) s`,
).narrow<{
  account_id: string;
  mentions: number;
  is_written_to: boolean;
  last_at: Date;
  name: string;
  rank: number;
}>();

const WRITE = statement(
  'write-known-addresses',
  `update known_addresses k set name = n.name, rank = n.rank, is_written_to = n.is_written_to, last_at = n.last_at,
    words = n.words
  from unnest($accountIds::text[], $addresses::text[], $names::text[], $ranks::int[], $areWrittenTo::boolean[],
    $lastAts::timestamptz[], $words::text[]) n (account_id, address, name, rank, is_written_to, last_at, words)
  where k.account_id = n.account_id and k.address = n.address`,
);

const REMOVE = statement(
  'remove-known-addresses',
  `delete from known_addresses k using unnest($accountIds::text[], $addresses::text[]) n (account_id, address)
  where k.account_id = n.account_id and k.address = n.address`,
);

const REMOVE_WORDS = statement(
  'remove-address-words',
  `delete from known_address_words w
  using unnest($accountIds::text[], $addresses::text[], $words::text[]) n (account_id, address, word)
  where w.account_id = n.account_id and w.word = n.word and w.address = n.address`,
);

const ADD_WORDS = statement(
  'add-address-words',
  `insert into known_address_words (account_id, address, word)
  select * from unnest($accountIds::text[], $addresses::text[], $words::text[]) on conflict do nothing`,
);
