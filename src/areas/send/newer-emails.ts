/** The emails of a thread that a writer has not seen, in the order in which they were recorded. */
import { MAX_NEW_EMAILS, MAX_PREVIEW_CHARS, type NewEmail } from '../../core/thread/new-email.ts';
import { run, statement, type Executor } from '../../platform/db/statement.ts';
import { AUTHOR } from '../emails/read-email-detail.ts';
import { LISTED } from '../emails/listed.ts';
import type { KeyAuthor } from '../../core/keys/author.ts';

/** See `OutboundStore.readNewer`. The last ones, when there are more than MAX_NEW_EMAILS. */
export async function readNewer(
  executor: Executor,
  threadId: string,
  emailId: string,
): Promise<readonly NewEmail[]> {
  const rows = await run(executor, NEWER_EMAILS, {
    threadId,
    emailId,
    limit: MAX_NEW_EMAILS,
    previewChars: MAX_PREVIEW_CHARS,
  });
  return rows
    .map(({ from_address: from, author, ...row }) => ({ ...row, from, author: author?.name ?? null }))
    .toReversed();
}

/** By the time of recording: a sender's Date may be anything. Without the named email in the thread, all are newer. */
const NEWER_EMAILS = statement(
  'newer-emails',
  `select e.id, e.direction, e.from_address, e.subject, e.date, ${AUTHOR} as author,
    left(coalesce(nullif(e.reply_text, ''), e.text_body), $previewChars::int) as preview
  from emails e
  left join emails s on s.id = $emailId and s.thread_id = e.thread_id
  where e.thread_id = $threadId and ${LISTED} and e.id <> $emailId
    and (s.id is null or (e.created_at, e.id) > (s.created_at, s.id))
  order by e.created_at desc, e.id desc limit $limit::int`,
).narrow<{
  direction: NewEmail['direction'];
  from_address: NewEmail['from'];
  author: KeyAuthor | null;
  preview: string;
}>();
