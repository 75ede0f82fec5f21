/** Judges the recorded emails of an account from a place on, in steps of bounded size, and adds up what the rules would do. */
import { LEFT_OUT_REASONS, type CaptureRules, type LeftOutReason } from '../../core/mailbox/capture.ts';
import { createCursorForm, UUID, PLACE_CURSOR } from '../../platform/base/paging.ts';
import { judgeRecorded, type JudgedEmail, type JudgeRecordedPorts } from './judge-recorded.ts';
import { STAY_REASONS, type RecordedEmails, type RecordedPlace, type StayReason } from './recorded-ports.ts';

/** How far an account is judged. */
export interface JudgedTo {
  readonly place: RecordedPlace;
  /** All emails of the thread at the place that were judged are to be removed. */
  readonly isEmptied: boolean;
}

/** The outcome for some emails. */
export interface JudgedCounts {
  readonly judged: number;
  readonly kept: number;
  readonly notFromMailbox: number;
  readonly unknown: number;
  readonly leftOut: Readonly<Record<LeftOutReason, number>>;
  /** Those of `leftOut` that stay. */
  readonly staying: Readonly<Record<StayReason, number>>;
  /** Those of `leftOut` that do not stay, their bytes, and threads that end with them. */
  readonly removable: number;
  readonly removableBytes: number;
  readonly emptiedThreads: number;
}

export interface JudgedPart {
  readonly counts: JudgedCounts;
  /** Emails that the rules leave out. */
  readonly leftOut: readonly JudgedEmail[];
  /** null: these were the last ones. */
  readonly next: JudgedTo | null;
}

export interface JudgeAccountPorts extends JudgeRecordedPorts {
  readonly recorded: RecordedEmails;
}

/** Headers that are in memory at once: each has at most 64 KiB. */
const JUDGED_TOGETHER = 100;

/** Judges at most `limit` emails. Throws what `judgeRecorded` throws, and the reason of an aborted `signal`. */
export async function judgeAccount(
  ports: JudgeAccountPorts,
  { accountId, capture }: { readonly accountId: string; readonly capture: CaptureRules | null },
  {
    from,
    limit,
    signal,
  }: { readonly from: JudgedTo | null; readonly limit: number; readonly signal?: AbortSignal },
): Promise<JudgedPart> {
  const sums = createSums(from);
  let place = from?.place ?? null;
  for (let left = limit; left > 0;) {
    signal?.throwIfAborted();
    const page = await ports.recorded.page(accountId, place, Math.min(left, JUDGED_TOGETHER));
    for (const judged of await judgeRecorded(ports, accountId, capture, page.emails)) sums.add(judged);
    place = page.next;
    if (place === null) return sums.end(null);
    // A page without an email is work, too.
    left -= Math.max(1, page.emails.length);
  }
  return sums.end(place);
}

function createSums(from: JudgedTo | null) {
  const leftOut: JudgedEmail[] = [];
  const plain = {
    judged: 0,
    kept: 0,
    notFromMailbox: 0,
    unknown: 0,
    removable: 0,
    removableBytes: 0,
    emptiedThreads: 0,
  };
  const byReason = zeros(LEFT_OUT_REASONS);
  const staying = zeros(STAY_REASONS);
  let threadId = from?.place.threadId ?? null;
  let isEmptied = from?.isEmptied ?? false;
  const endThread = () => {
    if (isEmptied) plain.emptiedThreads += 1;
  };

  return {
    add({ email, verdict }: JudgedEmail): void {
      if (email.threadId !== threadId) {
        endThread();
        threadId = email.threadId;
        isEmptied = true;
      }
      plain.judged += 1;
      const isRemovable = verdict.kind === 'left_out' && verdict.stays === null;
      isEmptied &&= isRemovable;
      if (verdict.kind === 'kept') plain.kept += 1;
      if (verdict.kind === 'not_from_mailbox') plain.notFromMailbox += 1;
      if (verdict.kind === 'unknown') plain.unknown += 1;
      if (verdict.kind !== 'left_out') return;
      leftOut.push({ email, verdict });
      byReason[verdict.reason] += 1;
      if (verdict.stays !== null) staying[verdict.stays] += 1;
      if (!isRemovable) return;
      plain.removable += 1;
      plain.removableBytes += email.sizeBytes;
    },

    end(place: RecordedPlace | null): JudgedPart {
      if (place === null) endThread();
      return {
        counts: { ...plain, leftOut: byReason, staying },
        leftOut,
        next: place === null ? null : { place, isEmptied: place.threadId === threadId && isEmptied },
      };
    },
  };
}

const zeros = <Name extends string>(names: readonly Name[]): Record<Name, number> =>
  Object.fromEntries(names.map((name) => [name, 0])) as Record<Name, number>;

/** Opaque to callers: `thread:emptied`, then `:` and the place of the email, if there is one. */
export const JUDGED_CURSOR = createCursorForm<JudgedTo>(
  ({ place: { threadId, email }, isEmptied }) =>
    `${threadId}:${isEmptied ? 1 : 0}${email === null ? '' : `:${PLACE_CURSOR.format(email) ?? ''}`}`,
  (text) => {
    const [threadId = '', emptied = '', place = null, ...rest] = text.split(':');
    if (!UUID.test(threadId) || !['0', '1'].includes(emptied) || rest.length > 0) return null;
    const email = PLACE_CURSOR.parse(place);
    return { place: { threadId, email }, isEmptied: emptied === '1' };
  },
);
