/** Whose a received email is while it is recorded. Its thread is locked by then. */
import { sql, type Transaction } from 'kysely';
import type { CompanySource, CustomerSource } from '../../core/customer/link-thread.ts';
import type { Database } from './database.ts';
import { linkColumns, linkJoins } from './match-customer.ts';
import { RULES_ARE_FRESH } from './rules-lock.ts';
import { settleCustomersOf } from './settle-customers.ts';

export interface ReceivedLink {
  readonly customer_id: string | null;
  readonly customer_source: CustomerSource | null;
  readonly company_id: string | null;
  readonly company_source: CompanySource | null;
  /** It decides whose the thread is, too. */
  readonly decides: boolean;
  /** False: the rules are being changed. */
  readonly is_fresh: boolean;
}

/** `counterparties`: normalised addresses. */
export async function linkOf(
  trx: Transaction<Database>,
  threadId: string,
  counterparties: readonly string[],
  isStranger: boolean,
): Promise<ReceivedLink> {
  const { rows } = await sql<ReceivedLink>`
    select l.link_customer as customer_id, l.link_customer_source as customer_source, l.link_company as company_id,
      l.link_company_source as company_source, rules.is_fresh,
      -- A stranger who guessed or was given a Message-ID never decides whose thread it is.
      l.is_unlinked and l.link_customer is not null and not ${isStranger} as decides
    from (select ${sql.raw(RULES_ARE_FRESH)} as is_fresh) rules,
    (select ${[...counterparties]}::text[] as counterparties) p, lateral (
      select ${sql.raw(linkColumns('null::uuid', 'null::uuid'))}, t.customer_id is null as is_unlinked
      from email_threads t ${sql.raw(linkJoins('null::uuid', 'p.counterparties'))}
      where t.id = ${threadId}
    ) l`.execute(trx);
  const [link] = rows;
  if (link === undefined) throw new Error(`the thread ${threadId} is not there`);
  return link;
}

/** After the email was inserted. */
export async function finishLink(
  trx: Transaction<Database>,
  email: { readonly id: string; readonly threadId: string },
  { decides, is_fresh }: ReceivedLink,
): Promise<void> {
  if (!is_fresh) {
    await trx.insertInto('customer_relinks').values({ email_id: email.id }).execute();
  }
  if (decides) await settleCustomersOf(trx, email);
}
