/** DNS look-ups for one check of one message: bounded in number and cached for a while, so that a flood of mail causes few queries. */

export type Lookup = (domain: string, type: string) => Promise<string[] | string[][]>;

/** Look-ups of one check. SPF may need 10 and their addresses (RFC 7208 §4.6.4), each signature one. */
const MAX_LOOKUPS = 60;
/** How long one check may make look-ups, in ms; later ones get no answer. */
const MAX_ASKING_MS = 10_000;
/** How long answers and failures are cached, in ms. The records have their own TTLs; minutes are less than nearly all of them. */
const KEPT_MS = 120_000;
const MAX_KEPT = 2000;

export class BoundedLookups {
  readonly #ask: Lookup;
  readonly #now: () => number;
  readonly #kept = new Map<string, { readonly until: number; readonly answer: ReturnType<Lookup> }>();

  constructor(ask: Lookup, now: () => number) {
    this.#ask = ask;
    this.#now = now;
  }

  ofCheck(): Lookup {
    let left = MAX_LOOKUPS;
    const until = this.#now() + MAX_ASKING_MS;
    return (domain, type) => {
      if (left-- <= 0 || this.#now() > until) {
        return Promise.reject(Object.assign(new Error('too many look-ups'), { code: 'ETIMEOUT' }));
      }
      return this.#lookUp(domain.toLowerCase(), type);
    };
  }

  #lookUp(domain: string, type: string): ReturnType<Lookup> {
    const key = `${type} ${domain}`;
    const known = this.#kept.get(key);
    if (known !== undefined && known.until > this.#now()) return known.answer;
    const answer = this.#ask(domain, type);
    // The caller handles the failure.
    answer.catch(() => undefined);
    this.#kept.delete(key);
    this.#kept.set(key, { until: this.#now() + KEPT_MS, answer });
    const [oldest] = this.#kept.keys();
    if (oldest !== undefined && this.#kept.size > MAX_KEPT) this.#kept.delete(oldest);
    return answer;
  }
}
