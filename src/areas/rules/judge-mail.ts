/** Judges received emails that wait for it, and looks at past ones for a preview. */
import { matchingRules, needsOf, type RuleFacts, type RuleNeeds } from '../../core/rules/judge.ts';
import type { Rule } from '../../core/rules/rule.ts';
import type { HeaderField } from '../../core/mime/parse/header-fields.ts';
import { ServiceError } from '../../core/errors.ts';
import type { Logger } from '../../platform/base/basics.ts';
import type { BlobStore } from '../../platform/files/file-ports.ts';
import { openStored } from '../../platform/files/open-stored.ts';
import { MAIL, type MessageReader } from '../../platform/reading/reading-ports.ts';
import type { Acting, EmailFacts, RuleQueue, RuleStore } from './rule-ports.ts';
import { READ_HEADER_BYTES } from './rule-queue.ts';

/** Judged at once: their texts and headers are in memory. */
export const MAX_JUDGED_TOGETHER = 25;

export interface JudgePorts {
  readonly rules: Pick<RuleStore, 'list'>;
  readonly queue: RuleQueue;
  readonly reader: MessageReader;
  readonly blobs: Pick<BlobStore, 'get'>;
  readonly logger: Logger;
}

/**
 * Returns true when there may be more. An email whose judgement fails is tried again later and stops no other one. Throws, once all were
 * tried, when the database, the storage or the reading processes are unavailable.
 */
export async function judgeSome(ports: JudgePorts, signal: AbortSignal): Promise<boolean> {
  const waiting = await ports.queue.take(MAX_JUDGED_TOGETHER);
  if (waiting.length === 0) return false;
  // Of this moment: a rule that was switched off no longer acts.
  const rules = (await ports.rules.list(null)).filter(({ active }) => active);
  const needs = needsOf(rules);
  const emails = await ports.queue.readFacts(
    waiting.map(({ emailId }) => emailId),
    needs,
  );
  const byId = new Map(emails.map((email) => [email.emailId, email]));
  const untouched: string[] = [];
  let unavailable: ServiceError | null = null;
  for (const one of waiting) {
    // The others are judged by the next process, a minute later.
    if (signal.aborted) break;
    const email = byId.get(one.emailId);
    try {
      const matching =
        email === undefined
          ? []
          : email.blockedId !== null && !one.isHistorical
            ? [blocking(email.blockedId)]
            : matchingRules(rules, await completeFacts(ports, email, needs, MAIL, one.isHistorical)).map(
                acting,
              );
      if (matching.length === 0) untouched.push(one.queueId);
      else await ports.queue.carryOut(one, matching);
    } catch (error) {
      if (error instanceof ServiceError && error.temporary) {
        unavailable ??= error;
        continue;
      }
      ports.logger.error(
        { err: error, emailId: one.emailId },
        'the rules on received mail failed for an email, which stays as it is; it is tried again later',
      );
    }
  }
  await ports.queue.finish(untouched);
  if (unavailable !== null) throw unavailable;
  return waiting.length === MAX_JUDGED_TOGETHER;
}

const acting = ({ id, name, actions }: Rule): Acting => ({
  id,
  name,
  actions,
  author: `rule:${id}`,
  isBlock: false,
});

/** The simplest rule: it comes before all others and stops. Its name contains no address, because events outlive the erasure of a person. */
const blocking = (id: string): Acting => ({
  id,
  name: 'blocked sender',
  actions: { status: 'spam' },
  author: `blocked:${id}`,
  isBlock: true,
});

/** With the header, where a rule asks for it. @param asker see MessageReader */
export async function completeFacts(
  { reader, blobs }: Pick<JudgePorts, 'reader' | 'blobs'>,
  email: EmailFacts,
  needs: RuleNeeds,
  asker: string,
  isHistorical: boolean,
): Promise<RuleFacts> {
  let fields: readonly HeaderField[] = [];
  if (needs.fields) {
    const header = email.head ?? (await readHead(blobs, email.rawPath));
    const read = header === null ? null : await reader.read('headerFields', { header }, asker);
    // What is missing or can't be read has no fields, so no rule that looks for one hides the email.
    if (read?.kind === 'read') fields = read.value;
  }
  return { ...email, fields, isHistorical };
}

/** null: the file is missing. */
async function readHead(blobs: Pick<BlobStore, 'get'>, path: string | null): Promise<Buffer | null> {
  try {
    const pieces: Buffer[] = [];
    for await (const piece of await openStored(blobs, path, { start: 0, end: READ_HEADER_BYTES - 1 }))
      pieces.push(piece as Buffer);
    return Buffer.concat(pieces);
  } catch (error) {
    if (error instanceof ServiceError && error.code === 'content_missing') return null;
    throw error;
  }
}
