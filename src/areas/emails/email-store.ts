/** `EmailStore` on PostgreSQL: each read except a search is one statement, prepared once per connection. */
import type { EmailDetail, EmailPage, EmailStore } from './email-ports.ts';
import type { StoredAttachment } from '../../platform/files/stored-attachment.ts';
import { READ_ATTACHMENT, toStoredAttachment } from './attachment-rows.ts';
import { READ_EMAIL, toDetail } from './read-email-detail.ts';
import { EMAIL } from './email-json.ts';
import { createEmailList } from './email-list.ts';
import { mergePieces, selectPage, toPage, type PageColumns } from './email-pages.ts';
import { LISTED } from './listed.ts';
import { locateRaw, locateVariant } from './raw-locations.ts';
import { READ_VARIANT, toVariant } from './variant-rows.ts';
import { run, statements, type Executor } from '../../platform/db/statement.ts';

export function createEmailStore(pool: Executor): EmailStore {
  return {
    listEmails: createEmailList(pool),

    async listCustomerEmails(request): Promise<EmailPage> {
      const { customerId, direction, since, until, within = null, after, limit } = request;
      const list = CUSTOMER_EMAILS.of({
        direction,
        hasSince: since !== null,
        hasUntil: until !== null,
        ofAccounts: within !== null,
        isNext: after !== null,
      });
      const afterValues = { afterDate: after?.date ?? null, afterId: after?.id ?? null };
      // One more row shows that there is another page.
      const values = { customerId, since, until, accountIds: within === null ? null : [...within] };
      const rows = await run(pool, list, { ...values, ...afterValues, limit: limit + 1 });
      return toPage(pool, EMAIL, rows, limit);
    },

    async readEmail(id): Promise<EmailDetail | null> {
      const [row] = await run(pool, READ_EMAIL, { id });
      return row === undefined ? null : toDetail(row);
    },

    readRaw: (id) => locateRaw(pool, id),

    async readVariant(emailId, id) {
      const [row] = await run(pool, READ_VARIANT, { id: emailId, variantId: id });
      return row === undefined ? null : { ...toVariant(row), textBody: row.text_body };
    },

    readVariantRaw: (emailId, id) => locateVariant(pool, emailId, id),

    async readAttachment(id): Promise<StoredAttachment | null> {
      const [row] = await run(pool, READ_ATTACHMENT, { id });
      return row === undefined ? null : toStoredAttachment(row);
    },
  };
}

const CUSTOMER_EMAILS = statements(
  'customer-emails',
  {
    direction: [null, 'inbound', 'outbound'],
    hasSince: [false, true],
    hasUntil: [false, true],
    ofAccounts: [false, true],
    isNext: [false, true],
  },
  ({ direction, hasSince, hasUntil, ofAccounts, isNext }) => {
    const conditions = [
      ...(hasSince ? ['e.date >= $since'] : []),
      ...(hasUntil ? ['e.date < $until'] : []),
      ...(ofAccounts ? ['e.account_id = any ($accountIds::text[])'] : []),
      ...(isNext ? ['(e.date, e.id) < ($afterDate::timestamptz, $afterId::uuid)'] : []),
    ];
    // The index has the direction before the date: a direction in which a large customer has no email is found as fast as the other.
    const pieces = (direction === null ? ['inbound', 'outbound'] : [direction]).map(
      (one) => `
      select e.id, e.date from emails e
      where ${[`e.customer_id = $customerId and e.direction = '${one}' and ${LISTED}`, ...conditions].join(' and ')}
      order by e.date desc, e.id desc`,
    );
    const found = mergePieces(pieces, 's.id, s.date', 'order by s.date desc, s.id desc', 'page');
    return selectPage(EMAIL, `(${found}) e`, '$limit');
  },
).narrow<PageColumns>();
