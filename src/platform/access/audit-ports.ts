/** The audit log: entries are added and read, never changed, and forgotten after years. */
import type { Author } from '../../core/keys/author.ts';

export interface AuditAct {
  readonly author: Author;
  /** As in the security log, such as `key.created`. */
  readonly act: string;
  /** Identifier of the object of the act; null when it has none yet. An address is replaced by a keyed digest. */
  readonly target: string | null;
  readonly details: Readonly<Record<string, unknown>>;
}

/** An act that is about to be done. */
export interface BegunAct extends AuditAct {
  /** In place of a target, in lower case: stored as a digest that only shows whether two addresses are equal. */
  readonly targetAddress?: string | null;
}

/** An act that has already ended. */
export interface EndedAct extends AuditAct {
  /** Of the refusal; null: it was done. */
  readonly code: string | null;
}

export interface AuditEntry extends AuditAct {
  /** A number that grows, as text. */
  readonly position: string;
  readonly at: Date;
  /** `unknown`: the process ended in between, or the outcome could not be written. */
  readonly outcome: 'done' | 'refused' | 'unknown';
  /** Of the refusal; null for any other outcome. */
  readonly code: string | null;
  /** The result of the act; null unless it was done. */
  readonly result: Readonly<Record<string, unknown>> | null;
}

export interface AuditFilter {
  /** The id of a key, or the kind of an author; null: any. */
  readonly author: string | null;
  readonly act: string | null;
  /** Inclusive. */
  readonly since: Date | null;
  /** Exclusive. */
  readonly until: Date | null;
}

/** All throw `ServiceError('database_unavailable')`. */
export interface AuditLog {
  /** Records an act that is about to be done; returns the position of the entry. */
  begin(act: BegunAct): Promise<string>;
  /** @param code of the refusal or failure; null: it was done */
  end(position: string, code: string | null, details: object): Promise<void>;
  /** Adds all of them, or none. */
  add(acts: readonly EndedAct[]): Promise<void>;
  /** Deletes the oldest entries that are older than that, by the database's clock, at most `limit`; returns how many. */
  forget(days: number, limit: number): Promise<number>;
  /** The newest first. */
  list(filter: AuditFilter, before: string | null, limit: number): Promise<readonly AuditEntry[]>;
}
