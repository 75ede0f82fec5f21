/** The sender and the text of an email that was sent, for a draft that sends it again. */
import type { DraftRequest, EmailDetail } from 'email-worker-client';
import { fillSignature, withoutClosing } from './closing.ts';
import { chosenSender, type Sender } from './senders.ts';

type Sent = Pick<EmailDetail, 'account_id' | 'from_address' | 'text_body' | 'html_body'>;

/**
 * Without the signature and the footer, which the service adds again. An address that the account no longer sends as is not named.
 *
 * @param authorName as signatures have it
 */
export function sentAs(
  { account_id: accountId, from_address: from, text_body, html_body }: Sent,
  senders: readonly Sender[],
  authorName: string,
): NonNullable<DraftRequest['message']> {
  const chosen = chosenSender(senders, { accountId, from: from.address, usual: null });
  const sender = chosen?.sender ?? null;
  const signature =
    sender?.signature &&
    fillSignature(sender.signature, {
      author: { name: authorName },
      account: { id: accountId, name: chosen?.name ?? '', address: from.address },
    });
  const { html_body: html, ...body } = withoutClosing(
    { text_body, html_body },
    { signature: signature ?? null, footer: sender?.footer ?? null },
  );
  return {
    ...body,
    ...(html === null ? {} : { html_body: html }),
    ...(sender === null || sender.isUsual ? {} : { from: from.address }),
  };
}
