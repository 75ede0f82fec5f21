/**
 * Messages that may have broken a connection. Seen in practice: Dovecot ends the session when it can't read the file of one message, so
 * that message would end every session that requests several, and hide the others for ever.
 *
 * Messages that such a command did not deliver are requested alone from then on, and so the one that breaks the connection again is
 * identified. The process keeps this in memory: after a restart it is found out again.
 */
import type { Uid } from '../../areas/mailboxes/mailbox-ports.ts';

/** Beyond this number all are forgotten, which costs only time. */
const MAX_SUSPECTS = 20_000;

export class SuspectUids {
  readonly #known = new Set<string>();
  #mailbox = '';

  /** Sets the mailbox and UIDVALIDITY that UIDs belong to from now on. */
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

  /** UIDs that may be requested together, and UIDs that are requested alone; both in order. */
  split(uids: readonly Uid[]): { readonly trusted: readonly Uid[]; readonly suspect: readonly Uid[] } {
    return { trusted: uids.filter((uid) => !this.has(uid)), suspect: uids.filter((uid) => this.has(uid)) };
  }

  #key(uid: Uid): string {
    return `${uid} ${this.#mailbox}`;
  }
}
