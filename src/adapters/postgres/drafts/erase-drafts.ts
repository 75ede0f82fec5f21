/** Deletes drafts that may not outlive an email or a person: each whole, and its files are queued to be deleted. */
import type { DraftMessage } from '../../../app/drafts/draft-ports.ts';
import { addressPattern } from '../../../core/erase/address-pattern.ts';
import { run, statement, type Executor } from '../db/statement.ts';
import { queueDraftFiles } from '../emails/deleted-emails.ts';

export interface DeletedDrafts {
  readonly drafts: number;
  readonly files: number;
}

/**
 * Those that answer one of the emails, by whichever of its identifiers: they can't be sent any more. Before the emails are
 * deleted.
 */
export async function deleteDraftsAnswering(
  executor: Executor,
  emailIds: readonly string[],
): Promise<DeletedDrafts> {
  return deleteDrafts(executor, await run(executor, LOCK_ANSWERING, { emailIds }));
}

/**
 * Those that name one of the addresses or the customer anywhere but in their subject and text, and those that are written by one of
 * the addresses. One that is being sent goes too: it has become an email by then, or is refused.
 *
 * @param addresses in lower case
 */
export async function eraseDraftsNaming(
  executor: Executor,
  addresses: readonly string[],
  customerId: string | null,
): Promise<DeletedDrafts> {
  // Plain words between two characters: it takes time in proportion. Input: at most 10,485,760 characters, MAX_DRAFT_CHARS.
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

/** An email that only speaks of a person stays too. */
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

/** Any text of a JSON value. Not recursive: a caller decides how deep it is. */
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

/** Locked, so that no file is added between queueing them and the deletion. */
const LOCK_ANSWERING = statement(
  'lock-drafts-answering',
  `select id from drafts
  where answers is not null and (answers ->> 'emailId')::uuid = any (array(
    select unnest($emailIds::uuid[]) union all select id from email_aliases where email_id = any ($emailIds::uuid[])
  ))
  order by id for update`,
);

/** More than those that name them: JSON writes characters otherwise, and holds the text too. */
const FIND_NAMING = statement(
  'find-drafts-naming',
  `select id from drafts
  where lower(message) ~ $pattern or lower(author) ~ $pattern or strpos(lower(message), $customerId::uuid::text) > 0
  order by id`,
);

const LOCK = statement('lock-draft', 'select message, author from drafts where id = $id for update');

/** Else the event of its deletion would be that it was sent, and name its author. */
const FREE = statement(
  'free-drafts-to-delete',
  'update drafts set sending_id = null, author = null where id = any ($ids::uuid[])',
);

const DELETE = statement('delete-drafts', 'delete from drafts where id = any ($ids::uuid[])');
