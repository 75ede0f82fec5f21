/** Records received emails together in one transaction, unless one of them needs more than that. */
import type { Pool } from 'pg';
import { ServiceError } from '../../core/errors.ts';
import type { InboundRecord, InboundResult } from './inbound-ports.ts';
import { linkedKeysOf } from '../../core/thread/place-together.ts';
import { call, statement } from '../../platform/db/statement.ts';
import { RECORDED, recordedValues, toKnownEmails, type RecordedJson } from '../emails/find-recorded.ts';
import type { KeyedTurns } from '../../platform/db/keyed-turns.ts';
import { insertLast } from './insert-received.ts';
import { LINKS, linksValues, toReceivedLinks, type LinkJson } from './link-received.ts';
import { inPlannedTransaction, type PlannedTransaction } from '../../platform/db/transaction.ts';
import {
  ENTER,
  enterValues,
  namedIdsOf,
  OWNERS,
  ownersValues,
  placeReceived,
  requireEntered,
  requireFit,
  requirePlaced,
  Unfit,
  type OwnerJson,
} from './place-received.ts';
import { isStatementTimeout } from '../../platform/db/pool.ts';
import { toKnown, toSought } from './record-alone.ts';

/**
 * Results by the ids of the records; records without a result are to be recorded alone. Never waits for an email that is being recorded
 * alone, nor for a thread that another transaction has locked: a delay of one email does not hold up the others. Throws
 * `database_unavailable`; and, for a single record, the database's refusal or timeout.
 */
export async function recordTogether(
  pool: Pool,
  records: readonly InboundRecord[],
  turns: KeyedTurns,
): Promise<ReadonlyMap<string, InboundResult>> {
  // The order in which they count as recorded, even when the customers of a thread are worked out later.
  let left: readonly InboundRecord[] = records.toSorted((a, b) => (a.id < b.id ? -1 : 1));
  for (;;) {
    const batch = left.filter((record) => turns.isFree(linkedKeysOf(record)));
    if (batch.length === 0) return new Map();
    try {
      return await turns.run(batch.flatMap(linkedKeysOf), () =>
        inPlannedTransaction(pool, (transaction) => insertTogether(transaction, batch)),
      );
    } catch (error) {
      if (error instanceof Unfit) {
        left = batch.filter((record) => !error.records.has(record));
      } else if (records.length === 1 || (error instanceof ServiceError && !isStatementTimeout(error))) {
        throw error;
      } else {
        // One of the records is refused, or takes too long.
        return new Map();
      }
    }
  }
}

/** Takes three round trips, with the transaction's begin and commit. Throws Unfit. */
async function insertTogether(
  transaction: PlannedTransaction,
  records: readonly InboundRecord[],
): Promise<ReadonlyMap<string, InboundResult>> {
  const keys = new Set<string>();
  // The same email twice: the second one must find the first.
  requireFit(records, ({ accountId, identityKey }) => {
    const key = `${accountId} ${identityKey}`;
    const isFirst = !keys.has(key);
    keys.add(key);
    return isFirst;
  });
  const results = new Map<string, InboundResult>();
  const all = namedIdsOf(records);
  const wanted = records.map(toSought);
  const [[before]] = await transaction.run(
    call(READ_BEFORE, { ...ownersValues(all), ...recordedValues(wanted) }),
  );
  const knownBefore = toKnownEmails(wanted, before?.known ?? []);
  const fresh = records.filter((record, index) => {
    const known = knownBefore[index] ?? null;
    if (known !== null) results.set(record.id, { kind: 'known', ...known });
    return known === null;
  });
  if (fresh.length === 0) return results;

  const placed = placeReceived(fresh, all, before?.owners ?? []);
  const emails = fresh.flatMap((record, index) => {
    const place = placed.places[index];
    return place === undefined ? [] : [{ record, ...place }];
  });
  const sought = fresh.map(toSought);
  // Searched after linking: a request that now records the same email, or one that it is a copy of, links the same Message-ID first.
  const [entered, [after]] = await transaction.run(
    call(ENTER, enterValues(placed)),
    call(READ_AFTER, {
      ...ownersValues(placed.named),
      ...recordedValues(sought),
      ...linksValues(emails),
    }),
  );
  requireEntered(fresh, placed, entered);
  requirePlaced(fresh, placed, after?.owners ?? []);
  const known = toKnownEmails(sought, after?.known ?? []);
  requireFit(fresh, (_, index) => known[index] === null);
  await insertLast(transaction, emails, toReceivedLinks(emails, after?.links ?? []));
  for (const { record, threadId } of emails) {
    results.set(record.id, { kind: 'recorded', ...toKnown(record, threadId) });
  }
  return results;
}

const READ_BEFORE = statement(
  'read-before-placing',
  `select ${OWNERS.array} as owners, ${RECORDED.array} as known`,
).narrow<{ owners: OwnerJson[]; known: RecordedJson[] }>();

const READ_AFTER = statement(
  'read-after-placing',
  `select ${OWNERS.array} as owners, ${RECORDED.array} as known, ${LINKS.array} as links`,
).narrow<{ owners: OwnerJson[]; known: RecordedJson[]; links: LinkJson[] }>();
