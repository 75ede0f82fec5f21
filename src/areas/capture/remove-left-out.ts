/**
 * Carries out removals: judges all emails of the account and lists those to be removed; when their number is the confirmed one, judges the
 * listed ones again and deletes them. It may be interrupted anywhere; a later call continues, in this process or another.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { rulesDigest, type CaptureRules } from '../../core/mailbox/capture.ts';
import type { Logger } from '../../platform/base/basics.ts';
import type { RequireCertainty } from '../../platform/files/file-ports.ts';
import { judgeAccount, type JudgeAccountPorts } from './judge-account.ts';
import { judgeRecorded } from './judge-recorded.ts';
import { LeaseEnded, type ClaimedRemoval, type RemovalStore, type RemovedEmail } from './removal-ports.ts';

export interface RemoveLeftOutPorts extends JudgeAccountPorts {
  readonly removals: RemovalStore;
  /** The rules of the accounts that this process knows, now. */
  readonly rules: () => ReadonlyMap<string, CaptureRules | null>;
  /** Reads the accounts anew. */
  readonly refresh: () => Promise<unknown>;
  readonly requireCertainty: RequireCertainty;
  /** See deleteDeletedFiles; never throws. */
  readonly deleteFiles: () => Promise<void>;
  readonly logger: Logger;
}

/** Emails judged in one step while they are counted. */
const COUNTED_AT_ONCE = 500;
/** Emails deleted in one transaction: it holds the locks of their threads. */
const REMOVED_AT_ONCE = 50;
/** The pause after each step leaves the database to others, in ms. */
const PAUSE_MS = 50;

/** Throws, once no other removal is left to carry on with, what `RequireCertainty` throws, and what judging throws. */
export async function carryOutRemovals(ports: RemoveLeftOutPorts, signal: AbortSignal): Promise<void> {
  const owner = randomUUID();
  let failure: unknown = null;
  for (;;) {
    if (signal.aborted) return;
    await ports.requireCertainty();
    const removal = await ports.removals.claim(owner, [...ports.rules().keys()]);
    if (removal === null) {
      if (failure !== null) throw failure;
      return;
    }
    let isKept = false;
    try {
      const state = await carryOut(ports, removal, signal);
      if (state === null) return;
      ports.logger.info(
        { accountId: removal.accountId, removalId: removal.id, state },
        'the removal of what the rules of an account leave out has ended',
      );
    } catch (error) {
      if (error instanceof LeaseEnded) continue;
      // Its lease keeps it from being taken again at once, so that those of other accounts get their turn.
      isKept = true;
      failure ??= error;
    } finally {
      if (!isKept) await ports.removals.release(removal);
    }
  }
}

/** null: it has to continue later. */
async function carryOut(
  ports: RemoveLeftOutPorts,
  removal: ClaimedRemoval,
  signal: AbortSignal,
): Promise<'done' | 'refused' | 'stopped' | null> {
  const end = async <State extends 'done' | 'refused' | 'stopped'>(state: State): Promise<State> => {
    await ports.removals.end(removal, state);
    return state;
  };
  for (;;) {
    if (signal.aborted) return null;
    await ports.requireCertainty();
    const isOf = (rules: CaptureRules | null): boolean =>
      rulesDigest(rules)?.equals(removal.rulesDigest) === true;
    let capture = ports.rules().get(removal.accountId) ?? null;
    // This process may not know the rules yet with which the removal was requested.
    if (!isOf(capture)) {
      await ports.refresh();
      capture = ports.rules().get(removal.accountId) ?? null;
    }
    if (!isOf(capture)) return await end('stopped');
    const { state, judgedTo, found } = await ports.removals.progress(removal);
    // Nothing was removed yet.
    if (found > removal.confirmed || (state === 'removing' && found !== removal.confirmed))
      return await end('refused');
    if (state === 'counting') {
      const account = { accountId: removal.accountId, capture };
      const part = await judgeAccount(ports, account, { from: judgedTo, limit: COUNTED_AT_ONCE });
      const ids = part.leftOut.flatMap(({ email, verdict }) =>
        verdict.kind === 'left_out' && verdict.stays === null ? [email.id] : [],
      );
      await ports.removals.noteJudged(removal, { judged: part.counts.judged, ids, next: part.next });
    } else if (!(await removeSome(ports, removal, capture))) return await end('done');
    await wait(PAUSE_MS, undefined, { signal }).catch(() => undefined);
  }
}

/** False: the list is empty. */
async function removeSome(
  ports: RemoveLeftOutPorts,
  removal: ClaimedRemoval,
  capture: CaptureRules | null,
): Promise<boolean> {
  const { removals, recorded } = ports;
  const listed = await removals.listed(removal, REMOVED_AT_ONCE);
  if (listed.length === 0) return false;
  const judged = await judgeRecorded(ports, removal.accountId, capture, await recorded.byIds(listed));
  const removed = judged.flatMap(({ email, verdict }): RemovedEmail[] =>
    verdict.kind === 'left_out' && verdict.stays === null
      ? [{ id: email.id, reason: verdict.reason, messageId: verdict.messageId }]
      : [],
  );
  const ids = new Set(removed.map(({ id }) => id));
  const kept = listed.filter((id) => !ids.has(id));
  if (!(await removals.remove(removal, { removed, kept }))) await removeEach(removals, removal, removed);
  await ports.deleteFiles();
  return true;
}

/** One of them has to be kept: the others go. */
async function removeEach(
  removals: RemovalStore,
  removal: ClaimedRemoval,
  emails: readonly RemovedEmail[],
): Promise<void> {
  for (const email of emails) {
    if (await removals.remove(removal, { removed: [email], kept: [] })) continue;
    await removals.remove(removal, { removed: [], kept: [email.id] });
  }
}
