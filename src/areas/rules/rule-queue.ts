/** `RuleQueue` on PostgreSQL. */
import type { Pool } from 'pg';
import type { AuthVerdict } from '../../core/message/authentication.ts';
import type { Writer } from '../../core/delivery/writer.ts';
import { columnsOf, jsonObject } from '../../platform/db/json.ts';
import { run, statement, statements } from '../../platform/db/statement.ts';
import { inLinkingTransaction } from '../../platform/db/linking-transaction.ts';
import { carryOutRules } from './carry-out-rules.ts';
import type { EmailFacts, RuleQueue } from './rule-ports.ts';

/** Characters of a text in which conditions look for theirs. */
const SEARCHED_TEXT_CHARS = 200_000;
/** Bytes of a message in which its header is read: more than mail servers accept as one. */
export const READ_HEADER_BYTES = 64 * 1024;
/** Attachments that are compared: an email with more is not told by the last ones. */
const MAX_COMPARED_ATTACHMENTS = 200;
const MAX_COMPARED_RECIPIENTS = 500;

export function createRuleQueue(pool: Pool): RuleQueue {
  return {
    async take(atMost) {
      const rows = await run(pool, TAKE, { atMost });
      return rows
        .map(({ id, email_id: emailId, is_historical: isHistorical }) => ({
          queueId: id,
          emailId,
          isHistorical,
        }))
        .sort((a, b) => Number(a.queueId) - Number(b.queueId));
    },

    async readFacts(emailIds, needs) {
      const rows = await run(pool, FACTS.of({ text: needs.text, fields: needs.fields }), {
        emailIds: [...emailIds],
      });
      return rows.map((row): EmailFacts => ({
        emailId: row.id,
        threadId: row.thread_id,
        accountId: row.account_id,
        from: row.from_address.address.toLowerCase(),
        shownFrom: row.from_address,
        date: row.date,
        blockedId: row.blocked_id,
        recipients: row.recipients,
        subject: row.subject,
        text: row.text,
        sizeBytes: Number(row.raw_size_bytes),
        attachments: row.attachments.map(({ filename, content_type: contentType }) => ({
          filename,
          contentType,
        })),
        verdict: row.verdict ?? 'unknown',
        writtenBy: row.written_by,
        isKnownCustomer: row.is_known_customer,
        head: row.head,
        rawPath: row.raw_path,
      }));
    },

    async finish(queueIds) {
      if (queueIds.length > 0) await run(pool, FINISH, { ids: [...queueIds] });
    },

    carryOut: ({ queueId, emailId }, rules) =>
      inLinkingTransaction(pool, async (trx) => {
        const taken = await run(trx, FINISH, { ids: [queueId] });
        if (taken.length > 0) await carryOutRules(trx, emailId, rules);
      }),

    async newest(accounts, atMost) {
      const rows =
        accounts === null
          ? await run(pool, NEWEST, { atMost })
          : await run(pool, NEWEST_OF, { accounts: [...accounts], atMost });
      return rows.map(({ id }) => id);
    },
  };
}

/**
 * Oldest first, so that the emails of a thread are judged in their order. One whose customer is still to be found out waits a minute for that
 * (customers/customer-linker.ts); then it is judged all the same.
 */
const TAKE = statement(
  'take-mail-to-judge',
  `update mail_rule_queue q set attempts = attempts + 1,
    -- Apart from each other, so that those which fail do not come back together.
    next_try_at = now() + least(interval '1 minute' * power(2, least(attempts, 6)), interval '1 hour') * (0.8 + 0.4 * random())
  where q.id = any (array(
    select w.id from mail_rule_queue w
    where w.next_try_at <= now() and (
      w.queued_at < now() - interval '1 minute' or not exists (select from customer_relinks c where c.email_id = w.email_id)
    )
    order by w.next_try_at, w.id limit $atMost for update skip locked
  ))
  returning q.id, q.email_id, q.is_historical`,
);

const COMPARED = jsonObject('compared-attachment-json', {
  from: 'email_attachments a',
  columns: columnsOf('a', 'filename', 'content_type'),
});

const FACTS = statements(
  'rule-facts',
  { text: [false, true], fields: [false, true] },
  ({ text, fields }) => `
  select e.id, e.thread_id, e.account_id, e.date, e.from_address, e.subject, e.raw_size_bytes, e.written_by, e.raw_path,
    ${text ? `left(e.text_body, ${SEARCHED_TEXT_CHARS})` : `''`} as text,
    ${fields ? `substring(e.raw from 1 for ${READ_HEADER_BYTES})` : 'null::bytea'} as head,
    array(
      select lower(coalesce(a.value ->> 'address', ''))
      from jsonb_array_elements(e.to_addresses || e.cc_addresses) a limit ${MAX_COMPARED_RECIPIENTS}
    ) as recipients,
    e.authentication ->> 'verdict' as verdict,
    blocked_sender_id(e.account_id, e.from_address ->> 'address') as blocked_id,
    -- Of several customers, one of which it is
    e.customer_id is not null or coalesce(e.customer_source = 'ambiguous', false) as is_known_customer,
    ${COMPARED.array(`where a.email_id = e.id and not a.inline and a.ordinal <= ${MAX_COMPARED_ATTACHMENTS}`, 'a.ordinal')} as attachments
  from emails e
  where e.id = any ($emailIds::uuid[]) and e.direction = 'inbound'`,
).narrow<{
  text: string;
  recipients: string[];
  verdict: AuthVerdict | null;
  written_by: Writer;
  is_known_customer: boolean;
  attachments: { filename: string; content_type: string }[];
}>();

const FINISH = statement(
  'finish-judgement',
  'delete from mail_rule_queue where id = any ($ids::bigint[]) returning id',
);

const NEWEST = statement(
  'newest-received',
  `select id from emails where state = 'received' order by date desc, id desc limit $atMost`,
);

const NEWEST_OF = statement(
  'newest-received-of-accounts',
  `select n.id from unnest($accounts::text[]) a (account_id) cross join lateral (
    select e.id, e.date from emails e where e.account_id = a.account_id and e.state = 'received'
    order by e.date desc, e.id desc limit $atMost
  ) n order by n.date desc, n.id desc limit $atMost`,
);
