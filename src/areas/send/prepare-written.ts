/**
 * Prepares an email whose sender wrote the message itself. Its bytes are handed over as they are, behind the signatures of its account; the
 * record has what was read from them. The checks are those of a send that is composed here (prepare-send.ts).
 */
import { dedupeAddresses, addrSpec, type Address } from '../../core/address/address.ts';
import { automaticExchange, type AutoSubmitted } from '../../core/delivery/loop-guard.ts';
import { defaultLane } from '../../core/delivery/priority.ts';
import type { CustomHeaders } from '../../core/message/custom-headers.ts';
import type { MessageId } from '../../core/message/message-id.ts';
import { dkimFields, type DkimSigning } from '../../core/mime/compose/dkim-signature.ts';
import { readContent } from '../../platform/files/content.ts';
import type { Content, SpoolFolder } from '../../platform/files/file-ports.ts';
import type { StoredAttachment } from '../../platform/files/stored-attachment.ts';
import { prepareAttachments, type AttachmentInput } from '../emails/prepare-attachments.ts';
import { refuseLongSubject } from './fill-in.ts';
import {
  accountOf,
  askedByAccount,
  place,
  refuseHalted,
  refuseTooMany,
  withFields,
  type PreparedSend,
  type PrepareSendPorts,
  type Recipients,
} from './prepare-send.ts';
import { refuseLoop } from './refuse-loop.ts';
import { signingFor } from './sender.ts';

/** A message as its sender wrote it, and what was read from it. */
export interface WrittenSend {
  readonly accountId: string;
  /** Begins with a header field, and its header ends in an empty line; without Bcc. */
  readonly raw: Content;
  /** Those of the message, and in `bcc` those of `recipients` that the message does not name. */
  readonly people: Recipients;
  /** Those of the envelope: only they get the email. */
  readonly recipients: readonly Address[];
  /** An address that the account sends as. */
  readonly from: Address;
  readonly replyTo: readonly Address[];
  readonly messageId: MessageId;
  /** In whole seconds. */
  readonly date: Date;
  readonly inReplyTo: readonly MessageId[];
  /** Oldest first. */
  readonly references: readonly MessageId[];
  /** See readThreadIndex. */
  readonly threadIndex: string | null;
  readonly subject: string;
  readonly textBody: string;
  readonly htmlBody: string | null;
  readonly attachments: readonly AttachmentInput[];
  readonly autoSubmitted: AutoSubmitted | null;
  /** Those of its fields that a send may add; the message may have more. */
  readonly headers: CustomHeaders;
  /** The key that sends; null: a secret. */
  readonly authorKeyId: string | null;
}

/** Throws ServiceError for what no send may do. Writes only to `folder`. */
export async function prepareWritten(
  ports: PrepareSendPorts,
  written: WrittenSend,
  folder: SpoolFolder,
  id: string,
): Promise<PreparedSend> {
  const { people, from } = written;
  const recipients = dedupeAddresses(written.recipients);
  refuseTooMany(recipients.length, ports.maxRecipients);
  const refused = ports.suppressions.refuseSuppressed(recipients);
  if (refused !== null) await refused;
  refuseLongSubject(written);
  const account = accountOf(ports, written.accountId);
  refuseHalted(account, true);
  // What it answers directly, else the last email that it names.
  const answered = written.inReplyTo[0] ?? written.references.at(-1) ?? null;
  const placed = { accountId: account.id, threadId: null };
  const placement = await place(ports, placed, people, answered);
  const exchangeWith = automaticExchange({
    autoSubmitted: written.autoSubmitted,
    recipients,
    automaticFrom: placement.parent?.automaticFrom ?? [],
  });
  if (exchangeWith !== null) await refuseLoop(ports, account.id, exchangeWith);
  const attachments = await prepareAttachments(ports, account.id, id, written.attachments);
  const now = ports.clock();
  return {
    email: {
      record: {
        id,
        accountId: account.id,
        threadId: placement.threadId,
        placement: { rule: placement.rule, matchedMessageId: placement.matchedMessageId },
        messageId: written.messageId,
        inReplyTo: written.inReplyTo,
        references: written.references,
        threadIndex: written.threadIndex,
        from,
        ...people,
        replyTo: written.replyTo,
        subject: written.subject,
        textBody: written.textBody,
        htmlBody: written.htmlBody,
        date: written.date,
        customerId: null,
        companyId: null,
        attachments: attachments.map(({ stored }): StoredAttachment => stored),
        autoSubmitted: written.autoSubmitted,
        headers: written.headers,
        exchangeWith,
        authorKeyId: written.authorKeyId,
        isAsWritten: true,
        ...askedByAccount(account, written.subject),
      },
      raw: await sign(ports, written.raw, folder, signingFor(ports.accounts, account, from), now),
      attachments: attachments.map(({ content }): Content => content),
      queue: {
        priority: 'normal',
        lane: defaultLane(placement.rule),
        dueAt: null,
        dueInMs: 0,
        timedFrom: now,
        giveUpAfterMs: ports.retry.schedule.giveUpAfterMs,
      },
    },
    envelope: {
      mailFrom: addrSpec(from),
      rcptTo: recipients.map(addrSpec),
      envelopeId: written.messageId,
    },
  };
}

/** The message behind the signatures of its account. */
async function sign(
  ports: Pick<PrepareSendPorts, 'openFile'>,
  raw: Content,
  folder: SpoolFolder,
  dkim: DkimSigning | null,
  signedAt: Date,
): Promise<Content> {
  if (dkim === null) return raw;
  const fields = await dkimFields(readContent(ports, raw), dkim, signedAt);
  if (raw.kind === 'bytes')
    return { kind: 'bytes', bytes: Buffer.concat([Buffer.from(fields, 'latin1'), raw.bytes]) };
  return folder.write(withFields(fields, readContent(ports, raw)));
}
