/**
 * What a server says of messages that are gone: VANISHED (RFC 7162 §3.2.10) and EXPUNGE. Within EXAMINE, VANISHED
 * (EARLIER) tells what went since the last time; a server that forgot when may name every UID that is not there, so the
 * list can be much longer than the mailbox, and a hostile one can name four thousand million UIDs in a short line.
 */
import type { ExpungeEvent } from 'imapflow';
import type { Uid } from '../../app/mailbox-ports.ts';
import { MAX_VANISHED, MAX_VANISHED_PER_SESSION } from './limits.ts';

/** UIDs between two pauses for the rest of the process. */
const PAUSE_EVERY = 100_000;

export class VanishedUids {
  #collected: Uid[] | null = null;
  #complete = true;
  #count = 0;
  readonly #onChange: () => void;
  readonly #onFlood: () => void;

  constructor(onChange: () => void, onFlood: () => void) {
    this.#onChange = onChange;
    this.#onFlood = onFlood;
  }

  /** From now on the UIDs of VANISHED (EARLIER) are kept. */
  collect(): void {
    this.#collected = [];
    this.#complete = true;
  }

  /** The UIDs since `collect`, ascending; null when they were too many. */
  take(): readonly Uid[] | null {
    const uids = this.#complete ? (this.#collected ?? []) : null;
    this.#collected = null;
    return uids?.toSorted((a, b) => a - b) ?? null;
  }

  /** For each message that the server says is gone; the library waits for it before the next one. */
  add(event: ExpungeEvent): Promise<void> | undefined {
    this.#count += 1;
    if (this.#count > MAX_VANISHED_PER_SESSION) {
      this.#onFlood();
      // The connection is closed; the library's loop over what it was told ends here, and is collected with it.
      return new Promise(() => {});
    }
    if (event.earlier !== true) this.#onChange();
    else if (this.#collected !== null && event.uid !== undefined) {
      if (this.#collected.length < MAX_VANISHED) this.#collected.push(event.uid);
      else this.#complete = false;
    }
    return this.#count % PAUSE_EVERY === 0 ? new Promise((resolve) => setImmediate(resolve)) : undefined;
  }
}
