/** Finds sent emails that a copy with another Message-ID could belong to, and gives such an email the data of its copy. */
import type { Pool } from 'pg';
import { toSentContent } from './sent-content.ts';
import type { OutboundRecord } from './outbound-ports.ts';
import { isOwnMessageId, type MessageId } from '../../core/message/message-id.ts';
import type { CopyContent } from '../../core/message/copy-content.ts';
import type { SentContent, SentCandidate } from '../../core/message/sent-copy.ts';
import { AWAIT_SENDS, SENT_ELSEWHERE } from './insert-emails.ts';
import { inLinkingTransaction } from '../../platform/db/linking-transaction.ts';
import { run, statement, type Executor, type RowOf } from '../../platform/db/statement.ts';
import { tieRelayMessageId } from './relay-message-ids.ts';
import { toMessageId } from '../emails/message-id-column.ts';
import type { KnownEmail } from '../emails/find-recorded.ts';

/** A sent email that took the place of its copies. */
export interface AdoptedCopy extends KnownEmail {
  /** Records of copies were merged into it; see compareCopies. */
  readonly hasAbsorbed: boolean;
  /** Paths of files that nothing refers to any more. */
  readonly orphans: readonly string[];
}

/** All throw `ServiceError('database_unavailable')` when the database can't be reached or does not answer in time. */
export interface CopyMatching {
  /**
   * Returns when every sent email of the account that was being recorded at the time of the call is recorded, or has
   * failed to be.
   */
  awaitSends(accountId: string): Promise<void>;
  /**
   * Emails that this service sent from the account, or may have sent, in the same second as the copy to one of its
   * recipients, or under a Message-ID that the copy had before; in one round trip.
   */
  findSends(accountId: string, copy: CopyContent): Promise<readonly SentCandidate[]>;
  /**
   * Records the Message-ID of a copy as the one that the relay gave a sent email. Threads that contain it are merged, and
   * a record of the copy is merged into the sent email: its identifier becomes an alias. null when the sent email has
   * received another relay's Message-ID meanwhile.
   */
  adoptCopy(sendId: string, messageId: MessageId): Promise<AdoptedCopy | null>;
}

/** The email has got another Message-ID meanwhile. */
class TakenMeanwhile extends Error {}

export function createCopyMatching(pool: Pool): CopyMatching {
  return {
    async awaitSends(accountId) {
      await run(pool, AWAIT_SENDS, { accountId });
    },

    async findSends(accountId, { date, originalIds, to, cc, subject }: CopyContent) {
      const [recipient] = [...to, ...cc];
      const rows = await run(pool, FIND_SENDS, {
        accountId,
        date: date === null ? null : new Date(Math.floor(date.getTime() / 1000) * 1000),
        recipient: recipient?.toLowerCase() ?? null,
        originalIds,
        limit: MAX_CANDIDATES,
        subject,
      });
      return rows.map((row) => ({
        id: row.id,
        state: row.state,
        hasRelayMessageId: row.relay_message_id !== null,
        ...toContent(row),
      }));
    },

    async adoptCopy(sendId, messageId) {
      try {
        return await inLinkingTransaction(pool, async (trx, exclusive) => {
          const { isTaken, ...tied } = await tieRelayMessageId(
            trx,
            { emailId: sendId, messageId },
            exclusive,
          );
          if (!isTaken) throw new TakenMeanwhile();
          return { id: sendId, direction: 'outbound', contentDigest: null, isDeleted: false, ...tied };
        });
      } catch (error) {
        if (error instanceof TakenMeanwhile) return null;
        throw error;
      }
    },
  };
}

/**
 * The Message-ID of a copy of an email that is about to be recorded, if the relay gave it another one and the copy was recorded first, as
 * an email that another program sent; null when there is none.
 */
export async function findRewrittenCopy(
  executor: Executor,
  record: OutboundRecord,
): Promise<MessageId | null> {
  const { accountId, date, subject } = record;
  const rows = await run(executor, FIND_COPIES, { accountId, date, subject, limit: MAX_CANDIDATES });
  if (rows.length === 0) return null;
  // The import reads HTML, with a library that a sending process does not load otherwise.
  const { isRewrittenCopy } = await import('../../core/message/sent-copy.ts');
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

/** Sends of one second to one recipient; a person could not tell more of them apart either. */
const MAX_CANDIDATES = 100;

type ContentRow = RowOf<typeof FIND_COPIES>;

const FIND_COPIES = statement(
  'find-rewritten-copies',
  `select ${CONTENT} from emails e
  where e.account_id = $accountId and e.date = $date and ${SENT_ELSEWHERE}
  order by e.subject <> $subject, e.id limit $limit`,
).narrow<{ digests: string[] }>();

/**
 * $recipient in lower case, null when the copy names none; $originalIds are Message-IDs that the copy had before. Records of copies have an
 * identity key; sends have none. A copy may come before the outcome of its hand-over.
 */
const FIND_SENDS = statement(
  'find-sends-of-copy',
  `select e.id, e.state, e.relay_message_id, ${CONTENT}
  from emails e
  where e.account_id = $accountId and e.direction = 'outbound' and e.identity_key is null
    and (e.state in ('sending', 'sent', 'deferred', 'unknown') or e.state = 'queued' and exists (
      select from send_queue q where q.email_id = e.id and q.begun_at is not null
    ))
    and (e.message_id = any ($originalIds) or e.date = $date and (
      case when $recipient::text is null then e.to_addresses || e.cc_addresses = '[]'
      else exists (
        select from jsonb_array_elements(e.to_addresses || e.cc_addresses) a where lower(a ->> 'address') = $recipient
      ) end
    ))
  -- With the same subject first: a newsletter has many emails in a second.
  order by e.subject <> $subject, e.relay_message_id is not null, e.id
  limit $limit`,
).narrow<{ digests: string[] }>();
