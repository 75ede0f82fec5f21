/**
 * Finds what no message by SMTP may contain: bare CR, bare LF (RFC 5321 §2.3.8) and NUL (RFC 5321 §4.5.2, RFC 5322 §4). Servers that take
 * them for different ends of a line let one message be read as two (SMTP smuggling, CVE-2023-51764). And, where it is asked for, lines that
 * are too long (RFC 5321 §4.5.3.1.6), which servers on the way would break or refuse.
 */

export type LineFault = 'bare_cr' | 'bare_lf' | 'nul' | 'long_line';

const CR = 0x0d;
const LF = 0x0a;

/** Reads the bytes of one message, in chunks of any size. */
export class LineFaultFinder {
  #fault: LineFault | null = null;
  #endsInCr = false;
  /** Octets of the line so far. */
  #lineOctets = 0;
  readonly #maxLineOctets: number;

  /** @param maxLineOctets without CRLF; default: no bound */
  constructor(maxLineOctets = Number.POSITIVE_INFINITY) {
    this.#maxLineOctets = maxLineOctets;
  }

  write(chunk: Buffer): void {
    if (this.#fault !== null || chunk.length === 0) return;
    this.#fault = this.#find(chunk);
    this.#endsInCr = chunk[chunk.length - 1] === CR;
  }

  /** Call it after the last byte. */
  end(): LineFault | null {
    if (this.#fault !== null) return this.#fault;
    if (this.#endsInCr) return 'bare_cr';
    return this.#lineOctets > this.#maxLineOctets ? 'long_line' : null;
  }

  #find(chunk: Buffer): LineFault | null {
    if (chunk.includes(0)) return 'nul';
    if (this.#endsInCr && chunk[0] !== LF) return 'bare_cr';
    let start = 0;
    let isLong = false;
    for (let at = chunk.indexOf(LF); at !== -1; at = chunk.indexOf(LF, at + 1)) {
      if (at === 0 ? !this.#endsInCr : chunk[at - 1] !== CR) return 'bare_lf';
      isLong ||= this.#lineOctets + at - 1 - start > this.#maxLineOctets;
      this.#lineOctets = 0;
      start = at + 1;
    }
    this.#lineOctets += chunk.length - start;
    for (let at = chunk.indexOf(CR); at !== -1; at = chunk.indexOf(CR, at + 1)) {
      if (at + 1 < chunk.length && chunk[at + 1] !== LF) return 'bare_cr';
    }
    return isLong ? 'long_line' : null;
  }
}
