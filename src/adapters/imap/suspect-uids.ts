/**
 * Messages that may have broken a connection. Seen in practice: Dovecot ends the session when it can't read the
 * file of one message, so that message would end every session that asks for several, and hide the others for ever.
 *
 * Messages that such a command did not deliver are requested alone from then on, and the one that breaks the connection
 * again is known by that. The process keeps this in memory: after a restart it is found out again.
 */
import type { Uid } from '../../app/mailboxes/mailbox-ports.ts';

/** Beyond it everything is forgotten: only time is lost. */
const MAX_SUSPECTS = 20_000;

export class SuspectUids {
  readonly #known = new Set<string>();
  #mailbox = '';

  /** What the UIDs belong to from now on. */
  use(path: string, uidValidity: number): void {
    this.#mailbox = `${uidValidity} ${path}`;
  }

  has(uid: Uid): boolean {
    return this.#known.size > 0 && this.#known.has(this.#key(uid));
  }

  add(uids: Iterable<Uid>): void {
    if (this.#known.size > MAX_SUSPECTS) this.#known.clear();
    for (const uid of uids) this.#known.add(this.#key(uid));
  }

  delete(uid: Uid): void {
    this.#known.delete(this.#key(uid));
  }

  /** Those that may be asked for together, and those that are asked for alone; both in order. */
  split(uids: readonly Uid[]): { readonly trusted: readonly Uid[]; readonly suspect: readonly Uid[] } {
    return { trusted: uids.filter((uid) => !this.has(uid)), suspect: uids.filter((uid) => this.has(uid)) };
  }

  #key(uid: Uid): string {
    return `${uid} ${this.#mailbox}`;
  }
}
