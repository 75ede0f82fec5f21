/** `ErasureStore` on PostgreSQL: every step is a transaction that also adds its counts to the record of the erasure. */
import type { Pool } from 'pg';
import {
  ERASED_KINDS,
  LeaseEnded,
  type ClaimedErasure,
  type Erased,
  type ErasedKind,
  type Erasure,
  type ErasureRequest,
  type ErasureStore,
} from './erasure-ports.ts';
import { addressPattern } from '../../core/erase/address-pattern.ts';
import { eraseRules, type ErasedPerson } from '../customers/customer-rules.ts';
import { lockRules } from '../customers/rules-lock.ts';
import { DryRunEnd, withDryRun } from '../../platform/db/dry-run.ts';
import { inLinkingTransaction } from '../../platform/db/linking-transaction.ts';
import { fromNow } from '../../platform/db/from-now.ts';
import { jsonObject, type JsonOf } from '../../platform/db/json.ts';
import { run, statement, type Executor, type RowOf } from '../../platform/db/statement.ts';
import { inTransaction } from '../../platform/db/transaction.ts';
import { rememberErased, supposeErased } from '../emails/deleted-emails.ts';
import { areNumbered, markOfInbox, REDACTED, redactEvents } from '../events/redact-events.ts';
import { eraseQuarantined, eraseWaiting } from '../mailboxes/erase-quarantined.ts';
import { forgetKeysNaming } from '../send/idempotency-keys.ts';
import { isClaimed } from '../send/queue-rows.ts';
import { eraseSuppressions } from '../send/suppression-store.ts';
import { eraseUnsubscribes } from '../unsubscribes/unsubscribe-store.ts';
import { forgetReasonsNaming } from '../threads/decide-in-transaction.ts';
import { redactDeliveries } from '../webhooks/webhook-deliveries.ts';
import { deleteEmails } from './delete-email-rows.ts';
import { eraseDraftsNaming, eraseDraftsOf } from '../drafts/erase-drafts.ts';

/** How long a process may take for one step before another one takes over, in ms. */
const LEASE_MS = 120_000;
/** Emails that one step looks at, and the most that it deletes. */
const SCANNED = 2000;
const DELETED = 50;
/** Emails that a dry run deletes and brings back, in one transaction. */
const MAX_CHECKED = 10_000;

type Counts = Partial<Record<ErasedKind, number>>;

/**
 * An erasure waits for emails that a process has claimed; all others are deleted in whatever state they are, and so are not sent any more.
 */
const isNotBeingSent = ({ is_claimed }: { readonly is_claimed: boolean }): boolean => !is_claimed;

/** @param patient for statements that take longer the more events there are */
export function createErasureStore(pool: Pool, patient: Pool): ErasureStore {
  return {
    async request(request) {
      const [row] = await run(pool, REQUEST, toValues(request));
      if (row === undefined) throw new Error('an erasure was not stored');
      return toErasure(row);
    },

    async read(id) {
      const [row] = await run(pool, READ, { id });
      return row === undefined ? null : toErasure(row);
    },

    async check(request) {
      const erasure = await withDryRun(
        inTransaction(pool, async (trx): Promise<Person> => {
          const [row] = await run(trx, REQUEST, toValues(request));
          if (row === undefined) throw new Error('an erasure was not stored');
          const { id, addresses, candidates } = row;
          throw new DryRunEnd({
            id,
            addresses,
            customerId: request.customerId,
            accountId: null,
            candidates,
          });
        }),
      );
      const { emails, ids } = await findEmails(patient, erasure);
      const events = await withDryRun(
        inTransaction(patient, async (trx): Promise<Counts> => {
          throw new DryRunEnd(await checkEvents(trx, erasure, ids));
        }),
      );
      // Last and on its own: it holds locks that recorders of mail wait for.
      const records = await withDryRun(
        inLinkingTransaction(patient, async (trx): Promise<Counts> => {
          throw new DryRunEnd(await checkRecords(trx, erasure, ids));
        }),
      );
      return toErased({ ...records, ...events, emails });
    },

    async claim(owner) {
      const [row] = await run(pool, CLAIM, { owner, leaseMs: LEASE_MS });
      return row === undefined
        ? null
        : {
            id: row.id,
            owner,
            addresses: row.addresses,
            customerId: row.customer_id,
            accountId: row.account_id,
            candidates: row.candidates,
          };
    },

    eraseEmails: (erasure) => inLinkingTransaction(patient, (trx) => eraseEmails(trx, erasure)),

    async eraseRecords(erasure) {
      // The lock of the rules comes first, so this is a separate transaction.
      await inLinkingTransaction(patient, async (trx) => {
        const rules = await eraseRules(trx, erasure);
        await note(trx, erasure, { customer_rules: rules });
      });
      await inTransaction(patient, async (trx) => {
        await note(trx, erasure, await eraseOtherRecords(trx, erasure));
      });
    },

    async eraseEvents(erasure) {
      const pattern = addressPattern(erasure.addresses);
      return await inTransaction(patient, async (trx) => {
        const { events_to: before } = await renew(trx, erasure);
        // Must come before the events are read: events that are numbered in between were not seen.
        const isNumbered = await areNumbered(trx, await markOfInbox(trx));
        const redacted = await redactEvents(trx, erasure.id, pattern, Number(before));
        await run(trx, SET_EVENTS_TO, { id: erasure.id, to: redacted.to });
        await note(trx, erasure, { events: redacted.events });
        if (!redacted.isLast) return 'more';
        if (!isNumbered) return 'waits';
        await note(trx, erasure, { webhook_deliveries: await redactDeliveries(trx, pattern, REDACTED) });
        return 'done';
      });
    },

    async finish({ id, owner }) {
      await run(pool, FINISH, { id, owner });
    },

    async release({ id, owner }) {
      await run(pool, RELEASE, { id, owner });
    },
  };
}

interface Person extends ErasedPerson {
  readonly id: string;
  /** null: a person is erased; else all mail of the account. */
  readonly accountId: string | null;
}

const toValues = ({ id, requestedBy, address, customerId, ownAddresses }: ErasureRequest) => ({
  id,
  requestedBy,
  address,
  customerId,
  ownAddresses,
});

/** How many emails there are of the person, and the first MAX_CHECKED. */
async function findEmails(
  executor: Executor,
  { addresses, customerId, accountId }: Person,
): Promise<{ readonly emails: number; readonly ids: readonly string[] }> {
  const pattern = addressPattern(addresses);
  const ids: string[] = [];
  let emails = 0;
  let after: string | null = null;
  for (;;) {
    const found: readonly RowOf<typeof FIND_EMAILS>[] = await run(executor, FIND_EMAILS, {
      after,
      pattern,
      customerId,
      accountId,
      limit: SCANNED,
    });
    const [{ last, matching } = { last: null, matching: [] }] = found;
    if (last === null) return { emails, ids };
    after = last;
    emails += matching.length;
    ids.push(...matching.slice(0, MAX_CHECKED - ids.length).map(({ id }) => id));
  }
}

async function checkRecords(trx: Executor, person: Person, ids: readonly string[]): Promise<Counts> {
  // In the order of docs/architecture.md: the emails may need it or not, the rules do.
  await lockRules(trx);
  const deleted = await deleteEmails(trx, ids, () => true);
  const rules = await eraseRules(trx, person);
  const { drafts = 0, files = 0, ...others } = await eraseOtherRecords(trx, person);
  return {
    ...others,
    customer_rules: rules,
    drafts: deleted.drafts + drafts,
    files: deleted.files + files,
  };
}

async function checkEvents(
  trx: Executor,
  { id, addresses }: Person,
  ids: readonly string[],
): Promise<Counts> {
  const pattern = addressPattern(addresses);
  await supposeErased(trx, id, ids);
  let events = 0;
  for (let to = 0, isLast = false; !isLast;) {
    const redacted = await redactEvents(trx, id, pattern, to);
    events += redacted.events;
    ({ to, isLast } = redacted);
  }
  return { events, webhook_deliveries: await redactDeliveries(trx, pattern, REDACTED) };
}

async function eraseOtherRecords(trx: Executor, person: Person): Promise<Counts> {
  const { id, addresses, customerId, accountId } = person;
  if (accountId !== null)
    return { quarantined: await eraseWaiting(trx, accountId), ...(await eraseDraftsOf(trx, accountId)) };
  const pattern = addressPattern(addresses);
  const quarantined = await eraseQuarantined(trx, pattern);
  await rememberErased(trx, id, quarantined);
  return {
    quarantined: quarantined.length,
    suppressions: await eraseSuppressions(trx, addresses, pattern),
    unsubscribes: await eraseUnsubscribes(trx, addresses),
    decisions: await forgetReasonsNaming(trx, pattern),
    idempotency_keys: await forgetKeysNaming(trx, addressPattern(addresses, 'keys')),
    // After the keys: the statements that complete and release a key lock in that order too.
    ...(await eraseDraftsNaming(trx, addresses, customerId)),
  };
}

async function eraseEmails(trx: Executor, erasure: ClaimedErasure): Promise<'more' | 'waits' | 'done'> {
  const { id, addresses, customerId, accountId } = erasure;
  const scan = await renew(trx, erasure);
  const pattern = addressPattern(addresses);
  const [found] = await run(trx, FIND_EMAILS, {
    after: scan.scanned_to,
    pattern,
    customerId,
    accountId,
    limit: SCANNED,
  });
  if (found === undefined || found.last === null) {
    await run(trx, BEGIN_SCAN, { id });
    return scan.has_found ? 'more' : scan.has_waiting ? 'waits' : 'done';
  }
  const { matching } = found;
  const some = matching.slice(0, DELETED);
  const ids = some.filter(isNotBeingSent).map((email) => email.id);
  const deleted = await deleteEmails(trx, ids, isNotBeingSent);
  await rememberErased(trx, id, ids);
  await note(trx, erasure, deleted);
  await run(trx, SET_SCANNED, {
    id,
    scannedTo: some.length < matching.length ? (some.at(-1)?.id ?? found.last) : found.last,
    hasFound: ids.length > 0,
    hasWaiting: ids.length < some.length,
  });
  return 'more';
}

/** Throws LeaseEnded. */
async function renew(trx: Executor, { id, owner }: ClaimedErasure): Promise<RowOf<typeof RENEW>> {
  const [row] = await run(trx, RENEW, { id, owner, leaseMs: LEASE_MS });
  if (row === undefined) throw new LeaseEnded();
  return row;
}

/** Adds to the record of the erasure. Throws LeaseEnded. */
async function note(trx: Executor, erasure: ClaimedErasure, counts: Counts): Promise<void> {
  await renew(trx, erasure);
  for (const [kind, count] of Object.entries(counts)) {
    if (count > 0) await run(trx, NOTE, { id: erasure.id, kind, count });
  }
}

function toErasure(row: RowOf<typeof READ>): Erasure {
  return {
    id: row.id,
    requestedAt: row.requested_at,
    requestedBy: row.requested_by,
    customerId: row.customer_id,
    accountId: row.account_id,
    finishedAt: row.finished_at,
    isWaiting: row.is_waiting,
    erased: toErased(row.erased as Counts),
  };
}

const toErased = (counts: Counts): Erased =>
  Object.fromEntries(ERASED_KINDS.map((kind) => [kind, counts[kind] ?? 0])) as Record<ErasedKind, number>;

const COLUMNS = 'id, requested_at, requested_by, customer_id, account_id, finished_at, is_waiting, erased';

/** For a customer: the addresses that belong to no other customer, and to no account. */
const REQUEST = statement(
  'request-erasure',
  `insert into erasures (id, requested_by, customer_id, candidates, addresses)
  values ($id, $requestedBy, $customerId::uuid, array(
    select c.customer_id from customer_addresses c where c.address = $address::text and c.origin <> 'removed'
  ), case when $address::text is not null then array[$address] else array(
    select c.address from customer_addresses c
    where c.customer_id = $customerId and c.origin <> 'removed' and c.address <> all ($ownAddresses::text[])
      and not exists (
        select from customer_addresses o
        where o.address = c.address and o.customer_id <> c.customer_id and o.origin <> 'removed'
      )
    order by c.address
  ) end)
  returning ${COLUMNS}, addresses, candidates`,
);

const REQUEST_OF_ACCOUNT = statement(
  'request-account-erasure',
  `insert into erasures (id, requested_by, account_id, addresses) values ($id, $requestedBy, $accountId, '{}')`,
);

/** Erases all mail of an account, in the transaction that deletes it. */
export async function requestAccountErasure(
  executor: Executor,
  request: { readonly id: string; readonly requestedBy: string; readonly accountId: string },
): Promise<void> {
  await run(executor, REQUEST_OF_ACCOUNT, request);
}

/** All mail of an account with this id is to be erased, also what comes meanwhile. */
export async function isAccountBeingErased(executor: Executor, accountId: string): Promise<boolean> {
  return (await run(executor, ERASING_ACCOUNT, { accountId })).length > 0;
}

const ERASING_ACCOUNT = statement(
  'erasing-account',
  'select 1 as one from erasures where account_id = $accountId and finished_at is null limit 1',
);

const READ = statement('read-erasure', `select ${COLUMNS} from erasures where id = $id`);

const CLAIM = statement(
  'claim-erasure',
  `update erasures set owner = $owner::uuid, lease_until = ${fromNow('$leaseMs')}
  where id = (
    select id from erasures where finished_at is null and (lease_until is null or lease_until < now())
      -- Every process has let go of the account by then
      and (account_id is null or requested_at < now() - interval '3 seconds')
    order by requested_at, id limit 1 for update skip locked
  )
  returning id, addresses, customer_id, account_id, candidates`,
);

const RENEW = statement(
  'renew-erasure',
  `update erasures set lease_until = ${fromNow('$leaseMs')}
  where id = $id and owner = $owner::uuid and finished_at is null
  returning scanned_to, has_found, has_waiting, events_to`,
);

const NOTE = statement(
  'note-erased',
  `update erasures set erased = jsonb_set(erased, array[$kind::text],
    to_jsonb(coalesce((erased ->> $kind)::bigint, 0) + $count::bigint))
  where id = $id`,
);

const SCANNED_PART = `with scanned as materialized (
    select id from emails where ($after::uuid is null or id > $after) and ($accountId::text is null or account_id = $accountId)
    order by id limit $limit::int
  )`;

const MATCHING = jsonObject('email-to-erase-json', {
  with: SCANNED_PART,
  from: 'scanned s join emails e on e.id = s.id',
  columns: { id: 'e.id', is_claimed: isClaimed('e') },
}).narrow<{ is_claimed: boolean }>();

/**
 * Every email that names the person in its header fields, was handed over to them, or reports about a hand-over to them. Emails are read in
 * the order of their identifiers, so that a scan can go on where it ended.
 */
const FIND_EMAILS = statement(
  'find-emails-to-erase',
  `${SCANNED_PART}
  select
    (select id from scanned order by id desc limit 1) as last,
    ${MATCHING.array(
      `where e.account_id = $accountId or e.customer_id = $customerId::uuid
        or lower(concat(e.from_address, e.sender_address, e.reply_to_addresses, e.to_addresses, e.cc_addresses,
          e.bcc_addresses)) ~ $pattern
        or address_fields(e.raw) ~ $pattern
        or exists (select from email_variants v where v.email_id = e.id and address_fields(v.raw) ~ $pattern)
        or exists (select from email_deliveries d where d.email_id = e.id and lower(d.address) ~ $pattern)
        or exists (select from bounce_reports b where b.report_id = e.id and lower(b.recipients::text) ~ $pattern)
        or exists (select from delivery_reports r where r.report_id = e.id and lower(r.address) ~ $pattern)`,
      'e.id',
    )} as matching`,
).narrow<{ matching: JsonOf<typeof MATCHING>[] }>();

const SET_SCANNED = statement(
  'set-erasure-scanned',
  `update erasures set scanned_to = $scannedTo, has_found = has_found or $hasFound::boolean,
    has_waiting = has_waiting or $hasWaiting::boolean
  where id = $id`,
);

const BEGIN_SCAN = statement(
  'begin-erasure-scan',
  `update erasures set scanned_to = null, is_waiting = has_waiting and not has_found, has_found = false,
    has_waiting = false
  where id = $id`,
);

const SET_EVENTS_TO = statement('set-erasure-events', 'update erasures set events_to = $to where id = $id');

const FINISH = statement(
  'finish-erasure',
  `update erasures set finished_at = now(), addresses = '{}', owner = null, lease_until = null
  where id = $id and owner = $owner::uuid`,
);

const RELEASE = statement(
  'release-erasure',
  'update erasures set owner = null, lease_until = null where id = $id and owner = $owner::uuid',
);
