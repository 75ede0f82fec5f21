/** Creates, changes, reads and orders rules on received mail, and shows what a rule would match. */
import { isDeepStrictEqual } from 'node:util';
import { invalidRequest, ServiceError } from '../../core/errors.ts';
import { toAddressPattern } from '../../core/address/address-pattern.ts';
import { keyIdOf, type Caller } from '../../core/keys/caller.ts';
import { judgeOf, needsOf } from '../../core/rules/judge.ts';
import type { Condition, RuleSettings, RuleTest } from '../../core/rules/rule.ts';
import type { IdSource } from '../../platform/base/basics.ts';
import { askerOf } from '../../platform/reading/reading-ports.ts';
import { completeFacts, MAX_JUDGED_TOGETHER, type JudgePorts } from './judge-mail.ts';
import type { EmailFacts, RuleRefusal, RuleStore, StoredRule } from './rule-ports.ts';

/** Of a change of any version, while others change the same rule. */
const MAX_TRIES = 5;
/** Emails that a preview names. */
export const MAX_EXAMPLES = 20;

export interface RulesPorts extends Pick<JudgePorts, 'queue' | 'reader' | 'blobs'> {
  readonly rules: RuleStore;
  readonly ids: IdSource;
}

export interface RulePreview {
  /** How many emails were looked at. */
  readonly examined: number;
  readonly matched: number;
  /** The newest that matched. */
  readonly examples: readonly EmailFacts[];
}

export type Rules = ReturnType<typeof createRules>;

/** All that take an id throw `rule_not_found`. */
export function createRules(ports: RulesPorts) {
  const { rules, ids } = ports;
  const find = async (id: string): Promise<StoredRule> => {
    const rule = await rules.read(id);
    if (rule === null) throw new ServiceError('rule_not_found');
    return rule;
  };
  return {
    /** Throws `too_many_rules`, `unknown_assignee`, `invalid_request`. */
    async create(settings: RuleSettings): Promise<StoredRule> {
      const id = ids.uuid();
      await rules.create(id, usable(settings));
      return find(id);
    },

    read: find,

    /** In their order. */
    list: (within: readonly string[] | null): Promise<readonly StoredRule[]> => rules.list(within),

    /** Throws `rule_changed`, `unknown_assignee`, `invalid_request`. @param version null: any */
    async change(id: string, version: number | null, change: Partial<RuleSettings>): Promise<StoredRule> {
      const given = Object.fromEntries(Object.entries(change).filter(([, value]) => value !== undefined));
      for (let tries = 1; ; tries += 1) {
        const old = await find(id);
        if (version !== null && old.version !== version)
          throw refusal({ kind: 'changed', version: old.version });
        const settings = usable({ ...old, ...given });
        // What changes nothing is no new version.
        if (isDeepStrictEqual(settings, old)) return old;
        const result = await rules.change(id, old, settings);
        if (result.kind === 'done') return find(id);
        // Another change came between: this one is made again on top of it.
        if (version !== null || result.kind === 'not_found' || tries === MAX_TRIES) throw refusal(result);
      }
    },

    /** Returns when. Throws `rule_changed`. @param version null: any */
    async delete(id: string, version: number | null): Promise<Date> {
      const result = await rules.delete(id, version);
      if (result.kind !== 'done') throw refusal(result);
      return result.at;
    },

    /** Throws `rules_changed`. */
    async order(order: readonly string[], within: readonly string[] | null): Promise<readonly StoredRule[]> {
      if (!(await rules.order(order, within))) throw new ServiceError('rules_changed');
      return rules.list(within);
    },

    /** Looks at no more than `last` received emails of its accounts, and changes nothing. Throws `invalid_request`. */
    async preview(
      caller: Caller,
      proposed: RuleTest,
      { last, signal }: { readonly last: number; readonly signal: AbortSignal },
    ): Promise<RulePreview> {
      const test = usable(proposed);
      const { queue } = ports;
      const needs = needsOf([test]);
      const asker = askerOf(keyIdOf(caller));
      const emailIds = await queue.newest(test.accounts, last);
      const examples: EmailFacts[] = [];
      let examined = 0;
      let matched = 0;
      for (let at = 0; at < emailIds.length; at += MAX_JUDGED_TOGETHER) {
        const page = emailIds.slice(at, at + MAX_JUDGED_TOGETHER);
        const places = new Map(page.map((id, index) => [id, index]));
        const emails = await queue.readFacts(page, needs);
        for (const email of emails.toSorted(
          (a, b) => (places.get(a.emailId) ?? 0) - (places.get(b.emailId) ?? 0),
        )) {
          signal.throwIfAborted();
          examined += 1;
          if (!judgeOf(await completeFacts(ports, email, needs, asker, false))(test)) continue;
          matched += 1;
          // Without what was read of them.
          if (examples.length < MAX_EXAMPLES) examples.push({ ...email, text: '', head: null });
        }
      }
      return { examined, matched, examples };
    },
  };
}

/**
 * The test with its patterns as addresses are compared with them. Throws `invalid_request` for what is no pattern, and for a condition that
 * no email of the rule's accounts can meet.
 */
function usable<Test extends RuleTest>(test: Test): Test {
  const conditions = test.conditions.map((condition) => {
    requireOwnAccount(condition, test.accounts);
    const patterns = (['sender', 'recipient'] as const).flatMap((field) => {
      const given = condition[field];
      if (given === undefined) return [];
      const pattern = toAddressPattern(given);
      if (pattern === null) throw invalidRequest('malformed', { field });
      return [[field, pattern] as const];
    });
    return { ...condition, ...Object.fromEntries(patterns) };
  });
  return { ...test, conditions };
}

function requireOwnAccount({ accountId }: Condition, accounts: readonly string[] | null): void {
  if (accountId !== undefined && accounts !== null && !accounts.includes(accountId))
    throw new ServiceError('unknown_account', { values: { value: accountId } });
}

const refusal = (result: RuleRefusal): ServiceError =>
  result.kind === 'not_found'
    ? new ServiceError('rule_not_found')
    : new ServiceError('rule_changed', { details: String(result.version) });
