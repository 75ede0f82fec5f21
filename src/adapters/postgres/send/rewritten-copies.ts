/** Sent emails that a copy with another Message-ID could be, and what a found one gets from its copy. */
import { CompiledQuery, sql, type Kysely, type Transaction } from 'kysely';
import type { InboundStore, KnownEmail } from '../../../app/receive/inbound-ports.ts';
import { toSentContent } from '../../../app/receive/match-sent-copy.ts';
import type { OutboundRecord } from '../../../app/send/outbound-ports.ts';
import { isOwnMessageId, type MessageId } from '../../../core/message/message-id.ts';
import { isRewrittenCopy, type CopyContent, type SentContent } from '../../../core/message/sent-copy.ts';
import type { Database } from '../db/database.ts';
import { AWAIT_SENDS, SENT_ELSEWHERE } from './insert-emails.ts';
import { inLinkingTransaction } from '../db/linking-transaction.ts';
import { guard } from '../db/pool.ts';
import { clean } from '../emails/received-values.ts';
import { tieRelayMessageId } from './relay-message-ids.ts';
import { toMessageId } from '../emails/rows.ts';

interface ContentRow {
  message_id: string;
  date: Date;
  from_address: { address: string };
  to_addresses: { address: string }[];
  cc_addresses: { address: string }[];
  bcc_addresses: { address: string }[];
  subject: string;
  in_reply_to: string[];
  text_body: string;
  html_body: string | null;
  digests: string[];
}

interface SendRow extends ContentRow {
  id: string;
  state: KnownEmail['state'];
  relay_message_id: string | null;
}

/** The email has got another Message-ID meanwhile. */
class TakenMeanwhile extends Error {}

/** The parts of `InboundStore` that match copies by their content. */
export function createCopyMatching(
  db: Kysely<Database>,
): Pick<InboundStore, 'awaitSends' | 'findSends' | 'adoptCopy'> {
  return {
    async awaitSends(accountId) {
      await guard(db.executeQuery(CompiledQuery.raw(AWAIT_SENDS, [accountId])));
    },

    async findSends(accountId, { date, originalIds, to, cc, subject }: CopyContent) {
      const [recipient] = [...to, ...cc];
      const values = [
        accountId,
        date === null ? null : new Date(Math.floor(date.getTime() / 1000) * 1000),
        recipient === undefined ? null : clean(recipient.toLowerCase()),
        originalIds,
        MAX_CANDIDATES,
        clean(subject),
      ];
      const { rows } = await guard(
        db.executeQuery(CompiledQuery.raw(FIND_SENDS, values) as CompiledQuery<SendRow>),
      );
      return rows.map((row) => ({
        id: row.id,
        state: row.state,
        hasRelayMessageId: row.relay_message_id !== null,
        ...toContent(row),
      }));
    },

    async adoptCopy(sendId, messageId) {
      try {
        return await inLinkingTransaction(db, async (trx, exclusive) => {
          const { isTaken, ...tied } = await tieRelayMessageId(
            trx,
            { emailId: sendId, messageId },
            exclusive,
          );
          if (!isTaken) throw new TakenMeanwhile();
          return { id: sendId, direction: 'outbound', contentDigest: null, ...tied };
        });
      } catch (error) {
        if (error instanceof TakenMeanwhile) return null;
        throw error;
      }
    },
  };
}

/**
 * The Message-ID of a copy of an email that is about to be recorded, where the relay gave it another one and the copy was
 * recorded first, as an email that another program sent; null when there is none.
 */
export async function findRewrittenCopy(
  trx: Transaction<Database>,
  record: OutboundRecord,
): Promise<MessageId | null> {
  const { rows } = await sql<ContentRow>`
    select ${sql.raw(CONTENT)} from emails e
    where e.account_id = ${record.accountId} and e.date = ${record.date} and ${sql.raw(SENT_ELSEWHERE)}
    order by e.subject <> ${record.subject}, e.id limit ${MAX_CANDIDATES}`.execute(trx);
  const sent = toSentContent(record);
  const copy = rows
    .map(toContent)
    .find(
      (content) =>
        !isOwnMessageId(content.messageId, record.from.domain) &&
        isRewrittenCopy({ ...content, originalIds: [] }, sent),
    );
  return copy?.messageId ?? null;
}

function toContent(row: ContentRow): SentContent {
  return {
    messageId: toMessageId(row.message_id),
    date: row.date,
    from: [row.from_address.address],
    to: row.to_addresses.map(({ address }) => address),
    cc: row.cc_addresses.map(({ address }) => address),
    bcc: row.bcc_addresses.map(({ address }) => address),
    subject: row.subject,
    inReplyTo: row.in_reply_to,
    text: row.text_body,
    html: row.html_body,
    attachmentDigests: row.digests,
  };
}

const CONTENT = `e.message_id, e.date, e.from_address, e.to_addresses, e.cc_addresses, e.bcc_addresses, e.subject,
  e.in_reply_to, e.text_body, e.html_body,
  array(select encode(a.sha256, 'hex') from email_attachments a where a.email_id = e.id) as digests`;

/** Sends of one second to one recipient; more of them can't be told apart by a person either. */
const MAX_CANDIDATES = 100;

/**
 * $1 account, $2 date, $3 a recipient in lower case, null when the copy names none, $4 Message-IDs the copy had before,
 * $5 limit, $6 subject.
 * Records of copies have an identity key; sends have none.
 */
const FIND_SENDS = `
  select e.id, e.state, e.relay_message_id, ${CONTENT}
  from emails e
  where e.account_id = $1 and e.direction = 'outbound' and e.identity_key is null
    and e.state in ('sending', 'sent', 'deferred', 'unknown')
    and (e.message_id = any ($4) or e.date = $2 and (
      case when $3::text is null then e.to_addresses || e.cc_addresses = '[]'
      else exists (
        select from jsonb_array_elements(e.to_addresses || e.cc_addresses) a where lower(a ->> 'address') = $3
      ) end
    ))
  -- With the same subject first: a newsletter has many emails in a second.
  order by e.subject <> $6, e.relay_message_id is not null, e.id
  limit $5`;
