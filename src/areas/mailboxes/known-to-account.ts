/** Whether somebody in a message is a customer, or it answers a recorded email: such a message is no stranger's. */
import type { CaptureFacts } from '../../core/mailbox/capture.ts';
import { run, statement, type Executor } from '../../platform/db/statement.ts';
import { matchOf } from '../customers/match-customer.ts';

/** In the order of `messages`; one statement for all of them. */
export async function areKnownTo(
  executor: Executor,
  accountId: string,
  messages: readonly CaptureFacts[],
): Promise<readonly boolean[]> {
  const addresses = distinct(messages.flatMap(addressesOf));
  const messageIds = distinct(messages.flatMap(({ answers }) => answers));
  const [row] = await run(executor, KNOWN, { accountId, addresses, messageIds });
  const customers = new Set(row?.customers.map((ordinal) => addresses[Number(ordinal) - 1]));
  const answered = new Set(row?.answered.map((ordinal) => messageIds[Number(ordinal) - 1]));
  return messages.map(
    (facts) =>
      addressesOf(facts).some((address) => customers.has(address)) ||
      facts.answers.some((messageId) => answered.has(messageId)),
  );
}

const distinct = (texts: readonly string[]) => [...new Set(texts)];
const addressesOf = ({ from, replyTo, recipients }: CaptureFacts) => [...from, ...replyTo, ...recipients];

/** Which of the addresses belong to customers, and which of the Message-IDs to emails of the account, by their places. */
const KNOWN = statement(
  'known-to-account',
  `select
    array(
      select a.ordinal from unnest($addresses::text[]) with ordinality a (address, ordinal)
      cross join lateral ${matchOf('array[lower(a.address collate "C")]', 'array[$accountId]', 'true')} m
      where m.source is not null
    ) as customers,
    array(
      select i.ordinal from unnest($messageIds::text[]) with ordinality i (id, ordinal)
      where exists (select from emails e where e.account_id = $accountId and e.message_id = i.id)
        or exists (select from emails e where e.account_id = $accountId and e.relay_message_id = i.id)
    ) as answered`,
).narrow<{ customers: string[]; answered: string[] }>();
