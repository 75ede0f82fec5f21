/**
 * Deletes emails, with everything that only they left behind, as a part of a transaction. Locks are taken in the order of
 * docs/architecture.md: the rules, the accounts' merges, the threads, the summaries, and the emails last.
 */
import { forgetAddressesOf } from '../addresses/learn-addresses.ts';
import {
  deletionKeys,
  sentCopyKey,
  sentIdentityKey,
  type KeyedContent,
} from '../../core/message/identity.ts';
import type { AddressView } from '../../core/address/address-view.ts';
import { learnedOnlyFrom, unlearn } from '../customers/customer-addresses.ts';
import { threadsUnder } from '../customers/find-by-rule.ts';
import { lockAndRelink, relinkCustomers } from '../customers/relink-customers.ts';
import { lockRules, renewRulesVersion } from '../customers/rules-lock.ts';
import { LinkConflict } from '../../platform/db/linking-transaction.ts';
import { run, statement, type Executor, type RowOf } from '../../platform/db/statement.ts';
import { queueFiles, rememberDeleted, type DeletedEmail } from '../emails/deleted-emails.ts';
import { lockSummariesOf } from '../emails/lock-summaries.ts';
import { toMessageId } from '../emails/message-id-column.ts';
import { deleteThread, readClusters, type ThreadRow } from '../emails/thread-rows.ts';
import { deleteEmailRows } from '../emails/write-emails.ts';
import { forgetOutcomes } from '../send/idempotency-keys.ts';
import { isClaimed } from '../send/queue-rows.ts';
import { carryOut, weighThreads } from '../threads/arrange-threads.ts';
import { lockLinks } from '../threads/link-thread.ts';
import { forgetLabels, hideLabels, keepBonds } from '../threads/freeze-threads.ts';
import { forgetMessageIds, hideMessageIds, readBonds } from '../threads/message-ids.ts';
import { renewParties } from '../threads/place-emails.ts';
import { forgetDecisions } from '../threads/decide-in-transaction.ts';
import { deleteDraftsAnswering } from '../drafts/erase-drafts.ts';

type EmailRow = RowOf<typeof LOCK_EMAILS>;

/** One of the emails must be kept: the transaction is rolled back. */
export class NotDeletable extends Error {}

/**
 * Deletes the emails; ids without an email are skipped. Throws NotDeletable when `mayDelete` refuses one of them, and errors that make the
 * transaction begin again.
 *
 * @param mayDeleteAll asked once they and their threads are locked; false: NotDeletable is thrown
 * @returns the number of deleted emails, the drafts that answered them, and the number of files of both
 */
export async function deleteEmails(
  trx: Executor,
  ids: readonly string[],
  mayDelete: (email: EmailRow) => boolean,
  mayDeleteAll: () => Promise<boolean> = async () => true,
): Promise<{ readonly emails: number; readonly drafts: number; readonly files: number }> {
  const found = await run(trx, FIND_EMAILS, { ids });
  if (found.length === 0) return NONE;
  const isRuled = found.some(({ teaches }) => teaches);
  if (isRuled) await lockRules(trx);
  for (const accountId of sorted(found.map(({ account_id }) => account_id))) await lockLinks(trx, accountId);
  const learned = isRuled ? await learnedOnlyFrom(trx, ids) : [];
  const others =
    learned.length === 0
      ? []
      : await threadsUnder(trx, { addresses: learned.map(({ address }) => address), domains: [] });
  const threadIds = sorted(found.map(({ thread_id }) => thread_id));
  const bonds = await readBonds(trx, ids);
  const clusters = await readClusters(trx, sorted([...threadIds, ...others]), true);
  for (const { account_id: accountId, thread_id: threadId } of threadsOf(found)) {
    const hidden = await hideMessageIds(trx, accountId, threadId, matesOf(clusters, threadId), ids);
    await hideLabels(trx, accountId, hidden);
  }
  await lockSummariesOf(trx, ids);
  // A claim made before this is seen below; a later one finds its row gone, or waits for the outcome of this transaction.
  await run(trx, LOCK_QUEUE_ROWS, { ids });
  const emails = await run(trx, LOCK_EMAILS, { ids });
  // The email was moved before its thread was locked.
  if (emails.some((email) => !threadIds.includes(email.thread_id))) throw new LinkConflict();
  if (!emails.every(mayDelete) || !(await mayDeleteAll())) throw new NotDeletable();
  if (emails.length === 0) return NONE;

  await rememberDeleted(trx, emails.map(toDeleted));
  const files = await queueFiles(trx, ids);
  await forgetOutcomes(trx, ids);
  const answering = await deleteDraftsAnswering(trx, ids);
  await run(trx, TELL_DELETED, { ids });
  await forgetAddressesOf(trx, ids);
  await deleteEmailRows(
    trx,
    emails.map(({ id }) => id),
  );
  const left = new Set((await run(trx, THREADS_LEFT, { threadIds })).map(({ thread_id }) => thread_id));
  const ended = new Set(threadIds.filter((id) => !left.has(id)));
  for (const threadId of ended) {
    await forgetLabels(trx, threadId);
    await forgetMessageIds(trx, threadId);
    await forgetDecisions(trx, threadId);
    await deleteThread(trx, threadId);
  }
  const kept = threadIds.filter((id) => left.has(id));
  await keepBonds(
    trx,
    bonds.filter(({ threadId }) => left.has(threadId)),
  );
  await renewParties(trx, kept);
  if (isRuled) {
    await unlearn(trx, learned);
    await lockAndRelink(trx, sorted([...kept, ...others]));
    await renewRulesVersion(trx);
  } else {
    await relinkCustomers(trx, kept);
  }
  // The threads of one cluster are weighed together, so only once.
  const weighed = new Set<string>();
  for (const { account_id: accountId, thread_id: threadId } of threadsOf(found)) {
    if (weighed.has(threadId)) continue;
    const mates = matesOf(clusters, threadId);
    for (const id of mates) weighed.add(id);
    const living = mates.filter((id) => !ended.has(id));
    const isCluster = mates.length > 1 && living.length > 0;
    if (isCluster) await carryOut(trx, accountId, await weighThreads(trx, accountId, living, { lock: true }));
  }
  return { emails: emails.length, drafts: answering.drafts, files: files + answering.files };
}

/** Each thread once. */
const threadsOf = <Row extends { readonly thread_id: string }>(found: readonly Row[]): readonly Row[] => [
  ...new Map(found.map((row) => [row.thread_id, row])).values(),
];

/** The thread, and those that are weighed together with it: their emails may name Message-IDs of the thread. */
function matesOf(threads: readonly ThreadRow[], threadId: string): readonly string[] {
  const cluster = threads.find(({ id }) => id === threadId)?.cluster_id ?? null;
  return threads
    .filter(({ id, cluster_id: other }) => id === threadId || (cluster !== null && other === cluster))
    .map(({ id }) => id);
}

const NONE = { emails: 0, drafts: 0, files: 0 };

const sorted = (texts: readonly string[]): readonly string[] => [...new Set(texts)].sort();

function toDeleted(email: EmailRow): DeletedEmail {
  const { id, account_id: accountId, thread_id: threadId, shared_key, identity_key, contents } = email;
  const key = (shared_key ?? identity_key)?.toString('hex') ?? null;
  return {
    id,
    accountId,
    threadId,
    // Other contents under its identity were not deleted, and may come.
    identityKeys:
      key === null ? keysOfCopies(email) : contents.flatMap((content) => deletionKeys(key, content)),
  };
}

/** The identity keys under which copies of an email that was sent from here come back. */
function keysOfCopies({
  message_id,
  relay_message_id,
  date,
  subject,
  from_address,
  to_addresses,
  cc_addresses,
}: EmailRow): readonly string[] {
  const from = from_address.address;
  const texts = (addresses: readonly AddressView[]) => addresses.map(({ address }) => address);
  const ids = [message_id, relay_message_id].filter((id) => id !== null).map(toMessageId);
  return [
    ...ids.map((id) => sentIdentityKey(id, { date, from, subject })),
    sentCopyKey({ date, from: [from], to: texts(to_addresses), cc: texts(cc_addresses), subject }),
  ];
}

const FIND_EMAILS = statement(
  'find-emails-to-delete',
  `select account_id, thread_id, direction = 'outbound' and customer_source is not distinct from 'explicit' as teaches
  from emails where id = any ($ids::uuid[])`,
).narrow<{ teaches: boolean }>();

const LOCK_QUEUE_ROWS = statement(
  'lock-queue-rows-to-delete',
  'select from send_queue where email_id = any ($ids::uuid[]) order by email_id for update',
);

const LOCK_EMAILS = statement(
  'lock-emails-to-delete',
  `select id, account_id, thread_id, state, ${isClaimed('e')} as is_claimed, message_id, relay_message_id, identity_key, shared_key,
    date, subject, from_address, to_addresses, cc_addresses,
    (select coalesce(jsonb_agg(jsonb_build_object('contentDigest', encode(c.content, 'hex'), 'answers', encode(c.answers, 'hex'))), '[]')
      from (
        select content_digest, answers_digest where content_digest is not null
        union select v.content_digest, v.answers_digest from email_variants v where v.email_id = e.id
      ) c (content, answers)) as contents
  from emails e where id = any ($ids::uuid[]) order by id for update`,
).narrow<{
  is_claimed: boolean;
  contents: KeyedContent[];
  from_address: AddressView;
  to_addresses: AddressView[];
  cc_addresses: AddressView[];
}>();

const THREADS_LEFT = statement(
  'threads-that-are-left',
  `select distinct thread_id from emails where thread_id = any ($threadIds::uuid[])`,
);

/** The events contain identifiers only. */
const TELL_DELETED = statement(
  'tell-deleted-emails',
  `insert into event_inbox (bodies)
  select array_agg(row('email.deleted', clock_timestamp(), e.account_id, e.id, e.thread_id, e.customer_id, e.company_id,
    false, '{}', event_author(null), null)::event_body order by e.id)
  from emails e where e.id = any ($ids::uuid[]) having count(*) > 0`,
);
