/**
 * The send queue in memory, as the statements of `areas/send/` treat it: emails with one recipient each. Every method is one
 * statement or one transaction. `send-queue.prop.test.ts` runs the real loop over it.
 */
import type { EndedAttempt } from '../../src/areas/send/journal-ports.ts';
import type { Situation } from '../../src/areas/send/queue-ports.ts';
import { conclude, isOpen, type Conclusion } from '../../src/core/delivery/conclude.ts';
import type { AttemptOutcome, DeliveryState, EmailState } from '../../src/core/delivery/states.ts';

interface Row {
  attempts: number;
  dueAt: number;
  giveUpAt: number;
  owner: string | null;
  claimId: string | null;
  leaseUntil: number | null;
  isBegun: boolean;
}

export interface ModelEmail {
  readonly id: string;
  state: EmailState;
  delivery: DeliveryState;
  row: Row | null;
  readonly attempts: Map<number, AttemptOutcome>;
  /** How often an operator allowed an email of unknown outcome to go out again. */
  permissions: number;
  /** An operator declared it sent. */
  isResolvedSent: boolean;
}

export interface ModelRef {
  readonly emailId: string;
  readonly claimId: string;
  readonly attempt: number;
}

const GIVE_UP_MS = 100_000;

export class QueueDatabase {
  readonly emails = new Map<string, ModelEmail>();
  readonly #now: () => number;
  #claims = 0;

  constructor(now: () => number) {
    this.#now = now;
  }

  enqueue(id: string): void {
    const row: Row = { ...FREE, attempts: 0, dueAt: this.#now(), giveUpAt: this.#giveUpAt() };
    this.emails.set(id, {
      id,
      state: 'queued',
      delivery: 'pending',
      row,
      attempts: new Map(),
      permissions: 0,
      isResolvedSent: false,
    });
  }

  dueAccounts(): readonly string[] {
    return [...this.#rows()].some(({ row }) => this.#isDue(row)) ? ['default'] : [];
  }

  claim(owner: string, limit: number, leaseMs: number): readonly (ModelRef & { readonly isOpen: boolean })[] {
    const due = [...this.#rows()].filter(({ row }) => this.#isDue(row)).slice(0, limit);
    return due.map(({ email, row }) => {
      this.#claims += 1;
      const claimId = `claim-${this.#claims}`;
      row.attempts += 1;
      Object.assign(row, { owner, claimId, leaseUntil: this.#now() + leaseMs, isBegun: false });
      return { emailId: email.id, claimId, attempt: row.attempts, isOpen: isOpen(email.delivery) };
    });
  }

  renew(owner: string, refs: readonly ModelRef[], leaseMs: number): void {
    for (const { row } of this.#standing(owner, refs)) row.leaseUntil = this.#now() + leaseMs;
  }

  begin(owner: string, ref: ModelRef, leaseMs: number): boolean {
    const [standing] = this.#standing(owner, [ref]);
    if (standing === undefined) return false;
    standing.row.isBegun = true;
    standing.row.leaseUntil = this.#now() + leaseMs;
    return true;
  }

  showSending(owner: string, refs: readonly ModelRef[]): void {
    for (const { email, row } of this.#standing(owner, refs)) {
      if (row.isBegun && (email.state === 'queued' || email.state === 'deferred')) email.state = 'sending';
    }
  }

  release(owner: string, ref: ModelRef, evenBegun: boolean): boolean {
    const found = [...this.#rows()].find(({ row }) => row.owner === owner && row.claimId === ref.claimId);
    if (found === undefined || (found.row.isBegun && !evenBegun)) return false;
    const { email, row } = found;
    Object.assign(row, FREE);
    row.attempts -= 1;
    if (email.attempts.get(ref.attempt) === 'unknown') email.attempts.delete(ref.attempt);
    if (email.delivery === 'unknown') email.delivery = 'pending';
    if (email.state === 'sending' || email.state === 'unknown') {
      email.state = [...email.attempts.keys()].some((number) => number < ref.attempt) ? 'deferred' : 'queued';
    }
    return true;
  }

  claimsOf(owner: string): readonly ModelRef[] {
    return [...this.#rows()]
      .filter(({ row }) => row.owner === owner)
      .map(({ email, row }) => ({ emailId: email.id, claimId: row.claimId!, attempt: row.attempts }));
  }

  expire(owner: string): readonly ModelRef[] {
    const silent = [...this.#rows()].filter(
      ({ row }) => row.leaseUntil !== null && row.leaseUntil < this.#now() && row.owner !== owner,
    );
    for (const { row } of silent.filter((one) => !one.row.isBegun)) {
      Object.assign(row, FREE);
      row.attempts -= 1;
    }
    return silent
      .filter(({ row }) => row.owner !== null)
      .map(({ email, row }) => {
        row.leaseUntil = null;
        if (!email.attempts.has(row.attempts)) email.attempts.set(row.attempts, 'unknown');
        if (isOpen(email.delivery)) email.delivery = 'unknown';
        if (UNSETTLED.has(email.state)) email.state = 'unknown';
        return { emailId: email.id, claimId: row.claimId!, attempt: row.attempts };
      });
  }

  settle(owner: string, ended: EndedAttempt, decide: (situation: Situation) => Conclusion): void {
    const email = this.emails.get(ended.emailId)!;
    const { row } = email;
    const { kind, recipients } = ended.result;
    const isCurrent = row !== null && row.owner === owner && row.claimId === ended.claimId;
    const known = email.attempts.get(ended.attempt);
    if (known === undefined || known === 'unknown') email.attempts.set(ended.attempt, kind);
    for (const { state } of recipients) if (isCurrent || state === 'accepted') setDelivery(email, state);
    if (isCurrent) {
      this.#apply(email, decide({ states: [email.delivery], giveUpInMs: row.giveUpAt - this.#now() }));
    } else if (
      kind === 'accepted' &&
      (row === null || row.leaseUntil === null) &&
      email.delivery === 'accepted'
    ) {
      email.row = null;
      email.state = 'sent';
    }
  }

  cancel(email: ModelEmail): void {
    if ((email.state !== 'queued' && email.state !== 'deferred') || email.row?.owner !== null) return;
    email.row = null;
    email.state = email.delivery === 'accepted' ? 'sent' : 'cancelled';
  }

  retry(email: ModelEmail): void {
    const { row, state } = email;
    if (state === 'deferred' && row?.owner === null) {
      row.dueAt = this.#now();
      return;
    }
    if (state !== 'failed' && state !== 'cancelled' && state !== 'unknown') return;
    if (state === 'unknown') email.permissions += 1;
    if (email.delivery !== 'accepted') email.delivery = 'pending';
    const attempts = row?.attempts ?? Math.max(0, ...email.attempts.keys());
    email.row = { ...FREE, attempts, dueAt: this.#now(), giveUpAt: this.#giveUpAt() };
    email.state = 'queued';
  }

  resolve(email: ModelEmail, outcome: 'sent' | 'failed'): void {
    if (email.state !== 'unknown') return;
    if (outcome === 'sent') email.isResolvedSent = true;
    // A failed email may be retried, and the mail server may have accepted it.
    else email.permissions += 1;
    if (email.delivery === 'unknown') email.delivery = outcome === 'sent' ? 'accepted' : 'rejected';
    const conclusion = conclude([email.delivery], 'an operator decided', 0);
    if (conclusion.dueInMs !== null) {
      const attempts = email.row?.attempts ?? Math.max(0, ...email.attempts.keys());
      email.row = { ...FREE, attempts, dueAt: this.#now(), giveUpAt: this.#giveUpAt() };
    }
    this.#apply(email, conclusion);
  }

  #apply(email: ModelEmail, { state, dueInMs }: Conclusion): void {
    if (dueInMs === null) email.row = null;
    else Object.assign(email.row!, FREE, { dueAt: this.#now() + dueInMs });
    email.state = state;
  }

  *#rows(): Generator<{ readonly email: ModelEmail; readonly row: Row }> {
    for (const email of this.emails.values()) if (email.row !== null) yield { email, row: email.row };
  }

  #standing(owner: string, refs: readonly ModelRef[]) {
    const wanted = new Set(refs.map(({ claimId }) => claimId));
    return [...this.#rows()].filter(
      ({ row }) => row.owner === owner && row.leaseUntil !== null && wanted.has(row.claimId!),
    );
  }

  #isDue(row: Row): boolean {
    return row.owner === null && row.dueAt <= this.#now();
  }

  #giveUpAt(): number {
    return this.#now() + GIVE_UP_MS;
  }
}

const UNSETTLED: ReadonlySet<EmailState> = new Set<EmailState>(['queued', 'sending', 'deferred']);

const FREE = { owner: null, claimId: null, leaseUntil: null, isBegun: false } as const;

/** An accepted delivery stays accepted, and a bounced one changes only for an equally certain state. */
function setDelivery(email: ModelEmail, state: DeliveryState): void {
  const isFinal = state === 'accepted' || state === 'rejected';
  if (email.delivery === 'accepted' || (email.delivery === 'rejected' && !isFinal)) return;
  email.delivery = state;
}
