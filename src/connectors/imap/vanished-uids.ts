/**
 * The server's reports of messages that are gone: VANISHED (RFC 7162 §3.2.10). Within EXAMINE, VANISHED (EARLIER) lists the messages that
 * went since the last time; a server that forgot when may name every UID that does not exist, so the list can be much longer than the
 * mailbox, and a hostile server can name four thousand million UIDs in a short line.
 */
import type { Uid } from '../../areas/mailboxes/mailbox-ports.ts';
import { MAX_VANISHED } from './limits.ts';

/** A response, as parsed by the library. */
export interface VanishedResponse {
  readonly attributes?: readonly unknown[] | undefined;
}

/** RFC 9051 §9 "seq-range" without `*`, which means nothing here. */
const RANGE = /^(\d{1,10})(?::(\d{1,10}))?$/;
const MAX_UID = 2 ** 32 - 1;

export class VanishedUids {
  #collected: Uid[] | null = null;
  #complete = true;
  readonly #onChange: () => void;

  /** @param onChange called when UIDs vanished just now */
  constructor(onChange: () => void) {
    this.#onChange = onChange;
  }

  /** From now on the UIDs of VANISHED (EARLIER) are kept. */
  collect(): void {
    this.#collected = [];
    this.#complete = true;
  }

  /** The UIDs since `collect`, ascending; null when there were too many. */
  take(): readonly Uid[] | null {
    const uids = this.#complete ? (this.#collected ?? []) : null;
    this.#collected = null;
    return uids?.toSorted((a, b) => a - b) ?? null;
  }

  /** Replaces the library's own method, which goes through every UID that is named. */
  add({ attributes = [] }: VanishedResponse): void {
    const [first, second] = attributes;
    const earlier = Array.isArray(first) && first.some((tag) => /^EARLIER$/i.test(textOf(tag)));
    if (!earlier) this.#onChange();
    else if (this.#collected !== null) this.#addSet(textOf(second));
  }

  #addSet(set: string): void {
    for (const part of set.split(',')) {
      const [, from, to = from] = RANGE.exec(part) ?? [];
      const [first, last] = [Number(from), Number(to)].toSorted((a, b) => a - b);
      // NaN is in no range.
      if (first === undefined || last === undefined || !(first >= 1 && last <= MAX_UID)) continue;
      const collected = this.#collected ?? [];
      if (collected.length + last - first >= MAX_VANISHED) {
        this.#complete = false;
        this.#collected = null;
        return;
      }
      for (let uid = first; uid <= last; uid += 1) collected.push(uid);
    }
  }
}

function textOf(attribute: unknown): string {
  const value: unknown =
    typeof attribute === 'object' && attribute !== null && 'value' in attribute ? attribute.value : null;
  return typeof value === 'string' ? value : '';
}
