/**
 * Takes a message that a program submits by SMTP (RFC 6409) and puts it into the queue: recorded, threaded and sent like any other send.
 * The message goes out as it was written; see docs/decisions/0069-smtp-submission.md.
 */
import { createHash } from 'node:crypto';
import { addrSpec, type Address } from '../../core/address/address.ts';
import { parseAddress } from '../../core/address/address-list.ts';
import { keyIdOf, type Caller } from '../../core/keys/caller.ts';
import { isTelling } from '../../core/message/message-id.ts';
import type { ParsedMessage } from '../../core/mime/parse/parsed-message.ts';
import { refuse } from '../../core/submission/refusal.ts';
import type { Account } from '../../platform/base/basics.ts';
import { DELIVERY_IN_MEMORY_MAX_BYTES } from '../../platform/base/limits.ts';
import type { Spool, SpoolFolder } from '../../platform/files/file-ports.ts';
import { readRaw } from '../../platform/files/read-raw.ts';
import { readReceived, type ReadReceivedPorts } from '../../platform/reading/read-received.ts';
import { askerOf } from '../../platform/reading/reading-ports.ts';
import { readReceivedAttachments, type ReceiveAttachmentsPorts } from '../receive/receive-attachments.ts';
import type { WrittenSend } from '../send/prepare-written.ts';
import { carryOutOnce, type SendOncePorts } from '../send/send-once.ts';
import type { SendMessagePorts } from '../send/send-message.ts';
import { sendWritten } from '../send/send-written.ts';
import { readHeader, readSenders, toOwnMessage, toWritten } from './read-written.ts';
import { senderAccountOf } from './sender-accounts.ts';

export type SubmissionPorts = SendMessagePorts &
  SendOncePorts &
  ReadReceivedPorts &
  ReceiveAttachmentsPorts & { readonly spool: Spool };

export interface Submission {
  /** Asked once the message is whole, which may take half an hour: its key may end meanwhile. */
  readonly caller: () => Promise<Caller>;
  /** As `recipient` returned them. */
  readonly recipients: readonly Address[];
  /** The client asked for SMTPUTF8. */
  readonly isUtf8Allowed: boolean;
  readonly source: AsyncIterable<Buffer>;
  /** Called after the last byte: false when nothing may be sent. */
  readonly isWhole: () => boolean;
}

export interface SubmittedEmail {
  /** null: it was deleted since it was submitted for the first time. */
  readonly id: string | null;
}

/** All throw RefusedSubmission for what will never be accepted, and ServiceError. */
export interface SubmissionUseCases {
  /** The envelope sender: an address that the caller may send as. Its domain is in A-labels. */
  requireSender(caller: Caller, address: string): void;
  /** Reads a recipient, whose domain is in A-labels, and refuses a suppressed one. */
  recipient(address: string): Promise<Address>;
  /**
   * Returns once the email is stored durably in the queue; null when the message was not whole. The same message that is submitted again,
   * with the same Message-ID, to the same recipients and by the same key, is not sent again.
   */
  submit(submission: Submission): Promise<SubmittedEmail | null>;
}

export function createSubmissions(ports: SubmissionPorts): SubmissionUseCases {
  const requireAccount = (caller: Caller, field: string, address: Address): Account => {
    const account = senderAccountOf(ports.accounts, caller, address);
    if (account !== null) return account;
    throw refuse(550, '5.7.1', `${field} ${addrSpec(address)} is no address that this key may send as`);
  };

  return {
    requireSender(caller, address) {
      if (address === '')
        throw refuse(550, '5.7.1', 'the null sender <> is not accepted: name an address of an account');
      requireAccount(caller, 'the sender', parseAddress(address, 'MAIL FROM'));
    },

    async recipient(address) {
      const recipient = parseAddress(address, 'RCPT TO');
      const refused = ports.suppressions.refuseSuppressed([recipient]);
      if (refused !== null) await refused;
      return recipient;
    },

    async submit({ caller: askCaller, recipients, isUtf8Allowed, source, isWhole }) {
      const folder = ports.spool.create();
      try {
        const received = await readRaw(source[Symbol.asyncIterator](), DELIVERY_IN_MEMORY_MAX_BYTES, folder);
        if (!isWhole()) return null;
        const caller = await askCaller();
        const header = await readHeader(ports, received, isUtf8Allowed);
        const { from, sender } = readSenders(header);
        const account = requireAccount(caller, 'From', from);
        if (sender !== null) requireAccount(caller, 'Sender', sender);
        const { raw, isIdentified } = await toOwnMessage(ports, received, header, from, folder);
        const authorKeyId = keyIdOf(caller);
        const { message } = await readReceived(ports, raw, {}, askerOf(authorKeyId));
        const read = toWritten(message, header, { recipients, from });
        const written: WrittenSend = {
          ...read,
          accountId: account.id,
          raw,
          recipients,
          attachments: await readReceivedAttachments(ports, raw, message.attachments, folder),
          authorKeyId,
        };
        const key = isIdentified ? keyOf(written, message) : null;
        return await sendOnce(ports, written, key, folder);
      } finally {
        // Does nothing once the journal has taken it over.
        await folder.remove();
      }
    },
  };
}

async function sendOnce(
  ports: SubmissionPorts,
  written: WrittenSend,
  key: Buffer | null,
  folder: SpoolFolder,
): Promise<SubmittedEmail> {
  if (key === null) {
    const id = ports.ids.uuid();
    await sendWritten(ports, written, folder, id);
    return { id };
  }
  const { outcome } = await carryOutOnce(
    ports,
    // No caller of the API can use it: callers' keys have no spaces.
    `smtp ${key.toString('base64url')}`,
    {
      queued: true,
      fingerprint: () => Promise.resolve(key),
      send: (own, emailId) => sendWritten(ports, written, own, emailId),
    },
    folder,
  );
  return { id: 'id' in outcome ? (outcome.id ?? null) : null };
}

/**
 * Recognises a message that is submitted again, because the reply to its end was lost: by the same key, with the same Message-ID and content,
 * to the same recipients. Programs that compose it anew write other dates and boundaries, so only a Message-ID that many emails may have
 * needs the Date beside it. Anything else is another email, such as the rest of the recipients.
 */
function keyOf(
  { authorKeyId, accountId, messageId, recipients, people, from, replyTo, date, subject }: WrittenSend,
  { contentDigest }: ParsedMessage,
): Buffer {
  const textsOf = (addresses: readonly Address[]) =>
    [...new Set(addresses.map((address) => addrSpec(address).toLowerCase()))].sort();
  const identity = [
    authorKeyId,
    accountId,
    messageId,
    isTelling(messageId) ? null : date.toISOString(),
    textsOf(recipients),
    textsOf(people.to),
    textsOf(people.cc),
    textsOf([from]),
    textsOf(replyTo),
    subject,
    contentDigest,
  ];
  return createHash('sha256').update(JSON.stringify(identity)).digest();
}
