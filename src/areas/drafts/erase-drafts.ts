/** Deletes drafts that must not outlive an email or a person: each as a whole, and its files are queued for deletion. */
import type { DraftMessage } from './draft-ports.ts';
import { addressPattern } from '../../core/erase/address-pattern.ts';
import { run, statement, type Executor } from '../../platform/db/statement.ts';
import { queueDraftFiles } from '../emails/deleted-emails.ts';

export interface DeletedDrafts {
  readonly drafts: number;
  readonly files: number;
}

/**
 * Deletes drafts that answer one of the emails, by whichever of its identifiers: they can't be sent any more. Call it before the emails are
 * deleted.
 */
export async function deleteDraftsAnswering(
  executor: Executor,
  emailIds: readonly string[],
): Promise<DeletedDrafts> {
  return deleteDrafts(executor, await run(executor, LOCK_ANSWERING, { emailIds }));
}

/**
 * Deletes drafts that name one of the addresses or the customer anywhere but in their subject and text, and drafts by an author with one of
 * the addresses. A draft that is being sent goes too: by then it has become an email, or its send is refused.
 *
 * @param addresses in lower case
 */
export async function eraseDraftsNaming(
  executor: Executor,
  addresses: readonly string[],
  customerId: string | null,
): Promise<DeletedDrafts> {
  // Plain words between two characters, so matching takes linear time. Input: at most 10,485,760 characters, MAX_DRAFT_CHARS.
  const pattern = new RegExp(addressPattern(addresses));
  const found = await run(executor, FIND_NAMING, {
    pattern: addressPattern(addresses, 'keys'),
    customerId,
  });
  const naming: { readonly id: string }[] = [];
  for (const { id } of found) {
    // One at a time: each may be as long as MAX_DRAFT_CHARS.
    const [draft] = await run(executor, LOCK, { id });
    if (draft !== undefined && names(draft, pattern, customerId)) naming.push({ id });
  }
  return deleteDrafts(executor, naming);
}

/** Deletes all drafts of an account. */
export async function eraseDraftsOf(executor: Executor, accountId: string): Promise<DeletedDrafts> {
  return deleteDrafts(executor, await run(executor, LOCK_OF_ACCOUNT, { accountId }));
}

const LOCK_OF_ACCOUNT = statement(
  'lock-drafts-of-account',
  'select id from drafts where account_id = $accountId order by id for update',
);

/** Skipped, because an email that only mentions a person in its text stays too. */
const CONTENT: ReadonlySet<string> = new Set(['subject', 'text_body', 'html_body']);

function names(
  { message, author }: { readonly message: string; readonly author: string | null },
  pattern: RegExp,
  customerId: string | null,
): boolean {
  const fields = JSON.parse(message) as DraftMessage;
  const { customer_id: customer } = fields;
  return (
    holds(pattern, author) ||
    (customerId !== null && typeof customer === 'string' && customer.toLowerCase() === customerId) ||
    Object.entries(fields).some(([field, value]) => !CONTENT.has(field) && holds(pattern, value))
  );
}

/** True if the pattern matches any text in a JSON value. Not recursive: the caller decides how deep the JSON is. */
function holds(pattern: RegExp, json: unknown): boolean {
  const values = [json];
  while (values.length > 0) {
    const value = values.pop();
    if (typeof value === 'string' && pattern.test(value.toLowerCase())) return true;
    if (typeof value === 'object' && value !== null) {
      for (const entry of Object.entries(value)) values.push(...entry);
    }
  }
  return false;
}

async function deleteDrafts(
  executor: Executor,
  drafts: readonly { readonly id: string }[],
): Promise<DeletedDrafts> {
  if (drafts.length === 0) return { drafts: 0, files: 0 };
  const ids = drafts.map(({ id }) => id);
  const files = await queueDraftFiles(executor, ids);
  await run(executor, FREE, { ids });
  await run(executor, DELETE, { ids });
  return { drafts: ids.length, files };
}

/** Locked, so that no file is added between queueing the files and the deletion. */
const LOCK_ANSWERING = statement(
  'lock-drafts-answering',
  `select id from drafts
  where answers is not null and (answers ->> 'emailId')::uuid = any (array(
    select unnest($emailIds::uuid[]) union all select id from email_aliases where email_id = any ($emailIds::uuid[])
  ))
  order by id for update`,
);

/** Finds more drafts than those that name the person: JSON escapes characters, and the column includes the text too. */
const FIND_NAMING = statement(
  'find-drafts-naming',
  `select id from drafts
  where lower(message) ~ $pattern or lower(author) ~ $pattern or strpos(lower(message), $customerId::uuid::text) > 0
  order by id`,
);

const LOCK = statement('lock-draft', 'select message, author from drafts where id = $id for update');

/** Otherwise the event of the deletion would report the draft as sent, and name its author. */
const FREE = statement(
  'free-drafts-to-delete',
  'update drafts set sending_id = null, author = null where id = any ($ids::uuid[])',
);

const DELETE = statement('delete-drafts', 'delete from drafts where id = any ($ids::uuid[])');
