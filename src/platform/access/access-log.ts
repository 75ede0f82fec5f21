/**
 * Records access for the audit log. Log-ins and log-outs of browsers are written at once. Refused log-ins and refused
 * rights are counted: a flood of them becomes a few entries each minute, whatever it sends. Until the counts are written,
 * they are only in memory; a killed process loses those of its last minute, which the security log has.
 */
import type { Author } from '../../core/keys/author.ts';
import type { ErrorCode } from '../../core/error-registry.ts';
import type { Right } from '../../core/keys/rights.ts';
import type { AuditLog, EndedAct } from './audit-ports.ts';

/** Entries kept apart between two writes, for each act; all further refusals share one entry. Some 500 bytes each. */
const MAX_TOLD_APART = 20;

export interface AccessLog {
  /** @param keyId the key that the caller claims to have; null: it showed none */
  noteLogin(address: string, keyId: string | null, code: ErrorCode): void;
  noteRight(author: Author, right: Right): void;
  /** Throws `ServiceError('database_unavailable')`: a log-in that can't be recorded must not happen. */
  noteSession(
    act: 'session.opened' | 'session.ended',
    author: Author,
    details: Readonly<Record<string, unknown>>,
  ): Promise<void>;
}

type Refusal = Omit<EndedAct, 'details'> & { readonly details: { readonly right?: Right } };
interface Counted {
  readonly refusal: Refusal;
  readonly count: number;
}

const OTHERS: Author = { kind: 'stranger', address: 'others' };

export class AccessLogWriter implements AccessLog {
  readonly #log: Pick<AuditLog, 'add'>;
  #counted = new Map<string, Counted>();

  constructor(log: Pick<AuditLog, 'add'>) {
    this.#log = log;
  }

  noteLogin(address: string, keyId: string | null, code: ErrorCode): void {
    const author: Author = { kind: 'stranger', address };
    this.#note({ author, act: 'login.refused', target: keyId, code, details: {} }, 1);
  }

  noteRight(author: Author, right: Right): void {
    this.#note(
      { author, act: 'right.refused', target: null, code: 'forbidden_right', details: { right } },
      1,
    );
  }

  noteSession(act: string, author: Author, details: Readonly<Record<string, unknown>>): Promise<void> {
    return this.#log.add([{ author, act, target: null, code: null, details }]);
  }

  /**
   * Writes the counts since the last write. Counts that can't be written are kept for the next time, and the failure is
   * thrown.
   */
  async write(): Promise<void> {
    const counted = [...this.#counted.values()];
    if (counted.length === 0) return;
    this.#counted = new Map();
    try {
      await this.#log.add(
        counted.map(({ refusal, count }) => ({ ...refusal, details: { ...refusal.details, count } })),
      );
    } catch (error) {
      for (const { refusal, count } of counted) this.#note(refusal, count);
      throw error;
    }
  }

  #note(refusal: Refusal, more: number): void {
    const key = JSON.stringify(refusal);
    const known = this.#counted.get(key);
    if (known === undefined && refusal.author !== OTHERS && this.#toldApart(refusal.act) >= MAX_TOLD_APART) {
      this.#note({ ...refusal, author: OTHERS, target: null, details: {} }, more);
      return;
    }
    this.#counted.set(key, { refusal, count: (known?.count ?? 0) + more });
  }

  #toldApart(act: string): number {
    return [...this.#counted.values()].filter(({ refusal }) => refusal.act === act).length;
  }
}
