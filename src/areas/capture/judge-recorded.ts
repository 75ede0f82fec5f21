/**
 * Judges recorded emails by rules of their account, with the code that judges what waits in its mailboxes, by the same fields of the same
 * message. What is in doubt is kept: a header that can't be read, is too long, or is no longer there.
 */
import type { CaptureFacts, CaptureRules, LeftOutReason } from '../../core/mailbox/capture.ts';
import { ruleHeader } from '../../core/mailbox/rule-header.ts';
import { ServiceError } from '../../core/errors.ts';
import { Limit } from '../../platform/base/limit.ts';
import type { BlobStore } from '../../platform/files/file-ports.ts';
import { readHeaders } from '../../platform/reading/read-received.ts';
import type { MessageReader } from '../../platform/reading/reading-ports.ts';
import { judgeMessages, type Judgement } from '../mailboxes/judge-messages.ts';
import type { RecordedEmail, StayReason } from './recorded-ports.ts';

export interface JudgeRecordedPorts {
  readonly reader: MessageReader;
  readonly blobs: Pick<BlobStore, 'get'>;
  readonly areKnown: (
    accountId: string,
    messages: readonly CaptureFacts[],
  ) => ReturnType<Judgement['areKnown']>;
}

/** `not_from_mailbox`: no rules apply to it. `unknown`: its header does not show enough. Both are kept as `kept` is. */
export type Verdict =
  | { readonly kind: 'kept' | 'not_from_mailbox' | 'unknown' }
  | {
      readonly kind: 'left_out';
      readonly reason: LeftOutReason;
      /** null: it is to be removed. */
      readonly stays: StayReason | null;
      readonly messageId: string | null;
    };

export interface JudgedEmail {
  readonly email: RecordedEmail;
  readonly verdict: Verdict;
}

/** Files whose beginnings are read at the same moment, in this process. */
const FILES_AT_ONCE = 8;
/** Twice as much as headers are judged; in bytes. */
const BEGINNING_BYTES = 128 * 1024;

/** In their order. Throws `reading_unavailable`, `database_unavailable` and `storage_unavailable`. @param capture null: no rules */
export async function judgeRecorded(
  { reader, blobs, areKnown }: JudgeRecordedPorts,
  accountId: string,
  capture: CaptureRules | null,
  emails: readonly RecordedEmail[],
): Promise<readonly JudgedEmail[]> {
  const subject = emails.filter(({ isFromMailbox }) => isFromMailbox && capture !== null);
  const limit = new Limit({ size: FILES_AT_ONCE });
  const headers = await Promise.all(
    subject.map(async ({ message }) => {
      if (message === null) return null;
      if ('header' in message) return ruleHeader(message.header);
      const beginning = await limit.run(() => readBeginning(blobs, message.path));
      return beginning === null ? null : ruleHeader(beginning);
    }),
  );
  const known = subject.flatMap(({ id }, index) => {
    const header = headers[index] ?? null;
    return header === null ? [] : [{ id, header }];
  });
  const read = await readHeaders(
    reader,
    known.map(({ header }) => header),
  );
  const factsOf = new Map<string, CaptureFacts | null>(subject.map(({ id }) => [id, null]));
  for (const [index, { id }] of known.entries()) factsOf.set(id, read[index]?.facts ?? null);
  const reasons =
    capture === null
      ? new Map<string, LeftOutReason>()
      : await judgeMessages({ capture, areKnown: (messages) => areKnown(accountId, messages) }, factsOf);
  return emails.map((email) => ({ email, verdict: verdictOf(email, factsOf, reasons.get(email.id)) }));
}

function verdictOf(
  { id, isFromMailbox, stays }: RecordedEmail,
  factsOf: ReadonlyMap<string, CaptureFacts | null>,
  reason: LeftOutReason | undefined,
): Verdict {
  if (!isFromMailbox) return { kind: 'not_from_mailbox' };
  const facts = factsOf.get(id);
  if (facts === null) return { kind: 'unknown' };
  if (reason === undefined) return { kind: 'kept' };
  return { kind: 'left_out', reason, stays, messageId: facts?.messageId ?? null };
}

/** null: the file does not exist, or its header does not end within BEGINNING_BYTES. Throws `storage_unavailable`. */
async function readBeginning(blobs: Pick<BlobStore, 'get'>, path: string): Promise<Buffer | null> {
  const stream = await blobs.get(path, { start: 0, end: BEGINNING_BYTES - 1 });
  if (stream === null) return null;
  const chunks: Buffer[] = [];
  try {
    for await (const chunk of stream) chunks.push(chunk as Buffer);
  } catch (error) {
    if (error instanceof ServiceError) throw error;
    throw new ServiceError('storage_unavailable', { cause: error });
  }
  const beginning = Buffer.concat(chunks);
  return EMPTY_LINES.some((line) => beginning.includes(line)) ? beginning : null;
}

/** Each with the end of the line before. */
const EMPTY_LINES = ['\n\n', '\n\r\n'];
