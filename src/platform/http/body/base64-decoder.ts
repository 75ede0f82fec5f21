/**
 * Decodes Base64 in pieces, RFC 4648 §4: only its own alphabet, and padding required, so that a cut file is noticed. Seen in practice:
 * lines broken every 76 characters (RFC 2045 §6.8), so white space is skipped. Unused bits of the last character may be set (§3.5 lets a
 * decoder decide).
 */

/** Each whole group of four characters decodes by itself. */
const GROUP_LENGTH = 4;

export class Base64Decoder {
  /** 0 to 3 characters that wait for the rest of their group. */
  #rest = '';
  /** Number of `=` seen; only more of them and white space may follow. */
  #padding = 0;
  #valid = true;

  /** False once anything was wrong; the bytes returned so far are then meaningless. */
  get valid(): boolean {
    return this.#valid;
  }

  /** Decodes the next piece; may hold back up to three characters of it. */
  push(text: string): Buffer {
    if (!this.#valid) return EMPTY;
    return this.pushAlphabet(text) ?? this.#pushSlowly(text);
  }

  /** As `push`, for a piece with characters of the alphabet only; for any other piece null, and nothing changes. */
  pushAlphabet(text: string): Buffer | null {
    return this.#valid && this.#padding === 0 ? this.#decodeGroups(this.#rest + text) : null;
  }

  /** Returns the last bytes. `valid` is final afterwards. */
  end(): Buffer {
    const length = this.#rest.length + this.#padding;
    if (this.#rest.length === 1 || (length !== 0 && length !== GROUP_LENGTH)) this.#valid = false;
    if (this.#rest.length === 0 && this.#padding > 0) this.#valid = false;
    return this.#valid ? Buffer.from(this.#rest, 'base64') : EMPTY;
  }

  /** null, and nothing changes, when `text` contains anything but the alphabet. */
  #decodeGroups(text: string): Buffer | null {
    const end = text.length - (text.length % GROUP_LENGTH);
    const rest = text.slice(end);
    if (!ALPHABET_ONLY.test(rest)) return null;
    const groups = text.slice(0, end);
    // Node.js considers only the low byte of a character, and accepts the URL alphabet as well.
    if (Buffer.byteLength(groups) !== end || groups.includes('-') || groups.includes('_')) return null;
    const decoded = Buffer.from(groups, 'base64');
    // Node.js skips anything that is not Base64, so a shorter result means that something was skipped.
    if (decoded.length * 4 !== end * 3) return null;
    this.#rest = rest;
    return decoded;
  }

  #pushSlowly(text: string): Buffer {
    const compact = text.replace(/[ \t\r\n]+/g, '');
    const paddingAt = compact.indexOf('=');
    const data = paddingAt === -1 ? compact : compact.slice(0, paddingAt);
    const padding = compact.length - data.length;
    const hasPaddingInside = paddingAt !== -1 && !/^={1,2}$/.test(compact.slice(paddingAt));
    if (hasPaddingInside || (this.#padding > 0 && data !== '') || this.#padding + padding > 2) {
      this.#valid = false;
      return EMPTY;
    }
    const decoded = this.#decodeGroups(this.#rest + data);
    this.#padding += padding;
    if (decoded === null) this.#valid = false;
    return decoded ?? EMPTY;
  }
}

const EMPTY = Buffer.alloc(0);
const ALPHABET_ONLY = /^[A-Za-z0-9+/]*$/;

/** Decodes a whole text; null when it is not Base64. */
export function decodeBase64(text: string): Buffer | null {
  const decoder = new Base64Decoder();
  const decoded = Buffer.concat([decoder.push(text), decoder.end()]);
  return decoder.valid ? decoded : null;
}
