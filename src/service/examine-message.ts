/** Sends a message from an account to itself, and looks for it in INBOX. */
import { randomBytes } from 'node:crypto';
import { awaitArrival } from '../connectors/imap/mailbox-source.ts';
import { openSession } from '../connectors/smtp-out/open-session.ts';
import { findNeeds } from '../connectors/smtp-out/message-stream.ts';
import type { AccessTokens } from '../areas/accounts/token-ports.ts';
import type { Clock } from '../platform/base/basics.ts';
import type { AccountConfig } from '../config/config-accounts.ts';
import type { Config } from '../config/config.ts';
import { addrSpec } from '../core/address/address.ts';
import { formatError } from '../core/causes.ts';
import { createMessageId, formatMessageId } from '../core/message/message-id.ts';
import { composeMessage } from '../core/mime/compose/compose.ts';
import { imapSession, smtpSession } from './examine-servers.ts';
import { ok, problem, warning, type Finding } from './finding.ts';

/** How long the message may take, in ms. */
const ARRIVES_WITHIN_MS = 20_000;
const MESSAGE_ID_RANDOM_BYTES = 16;
const SEED_BYTES = 16;

/** @param waitMs default: 20 s */
export async function examineMessage(
  account: AccountConfig,
  {
    config,
    clock,
    tokens,
  }: { readonly config: Pick<Config, 'smtp'>; readonly clock: Clock; readonly tokens: AccessTokens },
  signal: AbortSignal,
  waitMs = ARRIVES_WITHIN_MS,
): Promise<readonly Finding[]> {
  const { id, from, smtpUrl, imap } = account;
  if (smtpUrl === null || imap === null)
    return [
      warning(
        'no message was sent',
        'Give smtp_url and imap_url: it is sent by one and read by the other.',
        'message_not_tried',
      ),
    ];
  const address = addrSpec(from);
  const now = clock();
  const messageId = createMessageId(randomBytes(MESSAGE_ID_RANDOM_BYTES), now, from.domain);
  let isSent = false;
  const send = async () => {
    const bytes = composeMessage({
      messageId,
      date: now,
      from,
      to: [from],
      cc: [],
      subject: `Check of the account ${id}`,
      textBody: 'This message shows that the account sends and receives. It can be deleted.',
      htmlBody: null,
      inReplyTo: [],
      references: [],
      attachments: [],
      autoSubmitted: 'auto-generated',
      boundarySeed: randomBytes(SEED_BYTES).toString('hex'),
    });
    const content = { kind: 'bytes', bytes } as const;
    const session = await openSession(smtpSession(account, smtpUrl, config, tokens, signal), () => undefined);
    try {
      const { result } = await session.send(
        { mailFrom: address, rcptTo: [address] },
        content,
        await findNeeds(content),
      );
      if (result.kind !== 'accepted') throw new Error(result.detail);
      isSent = true;
    } finally {
      await session.quit();
    }
  };
  try {
    const tookMs = await awaitArrival(
      imapSession(account, imap),
      tokens,
      { send, sought: formatMessageId(messageId), waitMs },
      signal,
    );
    if (tookMs === null)
      return [
        warning(
          `a message to ${address} was sent, and was not in INBOX within ${Math.ceil(waitMs / 1000)} s`,
          'Look for it in the folder for spam, and see that from is an address of this mailbox. Some servers take minutes.',
          'message_not_arrived',
        ),
      ];
    return [ok(`a message to ${address} was sent, and was in INBOX after ${Math.ceil(tookMs / 1000)} s`)];
  } catch (error) {
    return [
      isSent
        ? problem(
            `a message to ${address} was sent, and INBOX could not be read: ${formatError(error)}`,
            'Correct what the check of the mailbox reports.',
            'message_not_read',
          )
        : problem(
            `no message could be sent to ${address}: ${formatError(error)}`,
            'Correct what the other checks report; a server that refuses the message often lets this user send as other addresses only.',
            'message_not_sent',
          ),
    ];
  }
}
