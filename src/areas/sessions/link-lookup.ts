/**
 * Finds links to log in. All lookups that wait share one read of all valid links, of which there are few, and reads follow each other at
 * intervals: guessed tokens cost the database no more than that, however many come, and the right one waits no longer for them.
 */
import { setTimeout as wait } from 'node:timers/promises';
import type { SessionBase, SessionStore } from '../../platform/access/session-ports.ts';

/** From the start of one read to that of the next, in ms. */
const READ_EVERY_MS = 50;

type Links = ReadonlyMap<string, SessionBase>;

export class LinkLookup {
  readonly #readLinks: SessionStore['readLinks'];
  readonly #now: () => number;
  /** The read that has not begun: it sees every link that was made before a lookup that waits for it. */
  #next: Promise<Links> | null = null;
  #last: Promise<unknown> = Promise.resolve();
  #beganAt = -Infinity;

  /** @param now milliseconds, by a clock that never goes back */
  constructor(readLinks: SessionStore['readLinks'], now: () => number) {
    this.#readLinks = readLinks;
    this.#now = now;
  }

  /** @param digest SHA-256 of the token. Rejects as `readLinks` does. */
  async find(digest: Buffer): Promise<SessionBase | null> {
    this.#next ??= this.#read(this.#last);
    this.#last = this.#next.catch(() => undefined);
    return (await this.#next).get(digest.toString('hex')) ?? null;
  }

  async #read(last: Promise<unknown>): Promise<Links> {
    await last;
    const restMs = this.#beganAt + READ_EVERY_MS - this.#now();
    if (restMs > 0) await wait(restMs);
    this.#next = null;
    this.#beganAt = this.#now();
    const links = await this.#readLinks();
    return new Map(
      links.map(({ digest, keyId, credential }) => [digest.toString('hex'), { keyId, credential }]),
    );
  }
}
