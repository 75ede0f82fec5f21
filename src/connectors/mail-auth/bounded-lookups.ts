/**
 * DNS look-ups for one check of one message: bounded in number and time, and cached for a while, so that a flood of mail causes few
 * queries. Names come from strangers: one that can't be a name in DNS is not asked for, and does not exist.
 */
import { toAsciiDomain } from '../../core/address/domain.ts';

export type Lookup = (domain: string, type: string) => Promise<string[] | string[][]>;

/** Look-ups of one check. SPF may need 10 and their addresses (RFC 7208 §4.6.4), each signature one. */
const MAX_LOOKUPS = 60;
/** How long one check may make look-ups, in ms; later ones, and those under way then, get no answer. */
const MAX_ASKING_MS = 10_000;
/** How long answers are cached, in ms. The records have their own TTLs; minutes are less than nearly all of them. */
const KEPT_MS = 120_000;
/** The same for failures of DNS itself. Short: the domain of a genuine sender may have failed once. */
const FAILURE_KEPT_MS = 10_000;
const MAX_KEPT = 2000;

interface Kept {
  until: number;
  readonly answer: ReturnType<Lookup>;
}

export class BoundedLookups {
  readonly #ask: Lookup;
  readonly #now: () => number;
  readonly #kept = new Map<string, Kept>();

  constructor(ask: Lookup, now: () => number) {
    this.#ask = ask;
    this.#now = now;
  }

  ofCheck(): Lookup {
    let left = MAX_LOOKUPS;
    const until = this.#now() + MAX_ASKING_MS;
    return async (domain, type) => {
      const name = toName(domain);
      if (name === null) throw failure('ENOTFOUND', 'no name in DNS');
      const leftMs = until - this.#now();
      if (left-- <= 0 || leftMs < 0) throw failure('ETIMEOUT', 'too many look-ups');
      return await within(leftMs, this.#lookUp(name, type));
    };
  }

  #lookUp(domain: string, type: string): ReturnType<Lookup> {
    const key = `${type} ${domain}`;
    const known = this.#kept.get(key);
    if (known !== undefined && known.until > this.#now()) return known.answer;
    const kept: Kept = { until: this.#now() + KEPT_MS, answer: this.#ask(domain, type) };
    // The caller handles the failure.
    kept.answer.catch((error: unknown) => {
      if (!isAnswer(error)) kept.until = Math.min(kept.until, this.#now() + FAILURE_KEPT_MS);
    });
    this.#kept.delete(key);
    this.#kept.set(key, kept);
    const [oldest] = this.#kept.keys();
    if (oldest !== undefined && this.#kept.size > MAX_KEPT) this.#kept.delete(oldest);
    return kept.answer;
  }
}

/** RFC 1035 §2.3.4: labels of 1 to 63 octets, 253 together. Seen in practice: nearly any visible character, in names of SPF macros. */
const NAME = /^(?=.{1,253}$)[!-\-/-[\]-~]{1,63}(?:\.[!-\-/-[\]-~]{1,63})*$/;

/** Lower-case, in A-labels (RFC 8616 §4); null for what can't be a name. */
function toName(text: string): string | null {
  const written = text.replace(/\.$/, '');
  const name = /[^\u0000-\u007f]/.test(written) ? (toAsciiDomain(written) ?? '') : written.toLowerCase();
  return NAME.test(name) ? name : null;
}

/** The server knows the answer: there is no such record. */
const isAnswer = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && (error.code === 'ENOTFOUND' || error.code === 'ENODATA');

async function within<T>(ms: number, work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(failure('ETIMEOUT', 'no answer in time')), ms);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}

const failure = (code: string, message: string): Error => Object.assign(new Error(message), { code });
