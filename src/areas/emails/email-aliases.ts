/** Identifiers of records that were merged into another email: they lead to it for ever. Only this module writes `email_aliases`. */
import { run, statement, type Executor } from '../../platform/db/statement.ts';

/** The emails that identifiers lead to, each once, sorted: a record that turned out to be a copy lives on in another one. */
export async function resolveEmails(executor: Executor, ids: readonly string[]): Promise<readonly string[]> {
  return (await run(executor, RESOLVE, { ids })).map(({ id }) => id);
}

/** From now on the identifiers, and all aliases that led to them, lead to the email. */
export async function addAliases(executor: Executor, emailId: string, ids: readonly string[]): Promise<void> {
  await run(executor, MOVE, { emailId, ids });
  await run(executor, ADD, { emailId, ids });
}

const RESOLVE = statement(
  'resolve-emails',
  `select distinct coalesce(a.email_id, n.id) as id
  from unnest($ids::uuid[]) as n (id) left join email_aliases a on a.id = n.id
  order by 1`,
).narrow<{ id: string }>();

const MOVE = statement(
  'move-email-aliases',
  'update email_aliases set email_id = $emailId where email_id = any($ids::uuid[])',
);

const ADD = statement(
  'add-email-aliases',
  'insert into email_aliases (id, email_id) select id, $emailId::uuid from unnest($ids::uuid[]) id',
);

/** For a statement about one email: the identifier `$id`, or the one that it leads to. */
export const EMAIL_ID = `coalesce((select email_id from email_aliases where id = $id::uuid), $id::uuid)`;
