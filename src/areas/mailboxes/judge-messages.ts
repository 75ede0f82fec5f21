/** Judges messages by the rules of their account: those that wait in its mailboxes, and those that are recorded. */
import {
  leftOutBy,
  type CaptureFacts,
  type CaptureRules,
  type LeftOutReason,
} from '../../core/mailbox/capture.ts';

export interface Judgement {
  readonly capture: CaptureRules;
  /** See `areKnownTo`. */
  readonly areKnown: (messages: readonly CaptureFacts[]) => Promise<readonly boolean[]>;
}

/** Name of a message → why it is left out. @param factsOf null: its header does not show enough, so it is recorded */
export async function judgeMessages<Name>(
  { capture, areKnown }: Judgement,
  factsOf: ReadonlyMap<Name, CaptureFacts | null>,
): Promise<ReadonlyMap<Name, LeftOutReason>> {
  const reasons = new Map<Name, LeftOutReason>();
  const asked: [Name, CaptureFacts][] = [];
  for (const [name, facts] of factsOf) {
    if (facts === null) continue;
    const reason = leftOutBy(capture, facts);
    if (reason !== null) reasons.set(name, reason);
    else if (capture.onlyCustomers && mayBeStranger(facts)) asked.push([name, facts]);
  }
  if (asked.length === 0) return reasons;
  const known = await areKnown(asked.map(([, facts]) => facts));
  for (const [index, [name]] of asked.entries()) if (known[index] === false) reasons.set(name, 'stranger');
  return reasons;
}

/** Without a sender, nothing is known of whose it is. */
const mayBeStranger = ({ from, isReport }: CaptureFacts): boolean => from.length > 0 && !isReport;
