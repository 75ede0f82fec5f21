/** Rules on received mail, as the database stores them, and the emails that wait for their judgement. */
import type { RuleFacts, RuleNeeds } from '../../core/rules/judge.ts';
import type { Rule, RuleSettings } from '../../core/rules/rule.ts';

export interface StoredRule extends Rule {
  readonly version: number;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

/** The reason why a rule could not be changed. `changed`: it has another version. */
export type RuleRefusal =
  { readonly kind: 'not_found' } | { readonly kind: 'changed'; readonly version: number };

/** All throw `ServiceError('database_unavailable')`; a change may then have been made nevertheless. */
export interface RuleStore {
  /** Behind all others. Throws `too_many_rules`, `unknown_assignee`. */
  create(id: string, settings: RuleSettings): Promise<void>;
  read(id: string): Promise<StoredRule | null>;
  /** In their order; those within the accounts, null: all. */
  list(within: readonly string[] | null): Promise<readonly StoredRule[]>;
  /** Throws `unknown_assignee` for one that `old` does not assign already. @param old the version to change */
  change(
    id: string,
    old: StoredRule,
    settings: RuleSettings,
  ): Promise<{ readonly kind: 'done' } | RuleRefusal>;
  delete(
    id: string,
    version: number | null,
  ): Promise<{ readonly kind: 'done'; readonly at: Date } | RuleRefusal>;
  /**
   * Gives the rules within the accounts this order, in the places that they have among all others. False: `ids` are not exactly these
   * rules.
   */
  order(ids: readonly string[], within: readonly string[] | null): Promise<boolean>;
}

/** The facts of an email but for its header, and where its message is. */
export interface EmailFacts extends Omit<RuleFacts, 'fields' | 'isHistorical'> {
  readonly emailId: string;
  readonly threadId: string;
  /** The name and address of the sender, as received. */
  readonly shownFrom: { readonly name: string; readonly address: string };
  readonly date: Date;
  /** The entry in the list of blocked senders that names the sender; null: none. */
  readonly blockedId: string | null;
  /** The beginning of the message, unless it is in a file, or `needs` does not ask for it. */
  readonly head: Buffer | null;
  readonly rawPath: string | null;
}

/** What acts on an email: a rule, or the list of blocked senders. */
export interface Acting extends Pick<Rule, 'id' | 'name' | 'actions'> {
  /** For events. */
  readonly author: string;
  /** It stands for a blocked sender. */
  readonly isBlock: boolean;
}

/** An email that waits for its judgement. */
export interface Waiting {
  readonly queueId: string;
  readonly emailId: string;
  readonly isHistorical: boolean;
}

export interface RuleQueue {
  /** Takes some that are due, for a minute; of an email that nobody finishes, others try again then, and later each time. */
  take(atMost: number): Promise<readonly Waiting[]>;
  /** Of those that are received emails, in any order. */
  readFacts(emailIds: readonly string[], needs: RuleNeeds): Promise<readonly EmailFacts[]>;
  /** Nothing matched them, or they are gone. */
  finish(queueIds: readonly string[]): Promise<void>;
  /** In one transaction, once: does nothing for an email that another process finished. */
  carryOut(waiting: Waiting, rules: readonly Acting[]): Promise<void>;
  /** The newest received emails of the accounts (null: all), newest first. */
  newest(accounts: readonly string[] | null, atMost: number): Promise<readonly string[]>;
}
