/**
 * Whether a mail that is wider than its place is made smaller: its frame is made as wide as the mail, and scaled down. That helps mail of a
 * fixed width. Mail that is always wider than its frame (`width: 100%` with a padding) would grow with it, become ever smaller, and lose the
 * layout that it has for small windows: it keeps its size, and scrolls.
 */

/** A wide email is made smaller, but no smaller than can just be read; beyond that it scrolls. */
const MIN_SCALE = 0.5;

/** A mail grows with its frame if it exceeds the wider frame by at least this share of what it exceeded its place by. */
const GROWN = 0.9;

/** A mail that is wider than its frame's place, in px. */
export interface Fit {
  readonly place: number;
  readonly mail: number;
  /** By what it was wider than the frame in which it was measured. */
  readonly excess: number;
  /**
   * `first`, `again`: the frame is being made as wide as the mail, from the width of its place or from a smaller one. `stays`: it is. `fluid`:
   * the mail is wider than any frame.
   */
  readonly state: 'first' | 'again' | 'stays' | 'fluid';
}

/** In px. */
export interface Widths {
  readonly place: number;
  readonly frame: number;
  /** Of the mail as it lies in the frame. */
  readonly mail: number;
}

export const scaleOf = (fit: Fit | null): number =>
  fit === null || fit.state === 'fluid' ? 1 : Math.max(MIN_SCALE, fit.place / fit.mail);

/** null: the mail has room. @param now what the frame was made after, and `widths` measured in */
export function nextFit(now: Fit | null, { place, frame, mail }: Widths): Fit | null {
  if (place === 0) return null;
  const fromPlace = (width: number): Fit => ({ place, mail: width, excess: width - place, state: 'first' });
  if (now === null || now.state === 'fluid') {
    if (mail <= place + 1) return null;
    const isSame = now !== null && now.place === place && mail <= now.mail + 1;
    return isSame ? now : fromPlace(mail);
  }
  // A frame that was fitted is as wide as the mail: the largest width measured so far counts.
  const widest = Math.max(mail, now.mail);
  if (widest <= place + 1) return null;
  if (now.place !== place) return fromPlace(widest);
  // The frame has not got its width yet.
  if (Math.abs(frame - place / scaleOf(now)) > 1) return now;
  const excess = Math.max(0, mail - Math.max(frame, now.mail));
  const again: Fit = { place, mail, excess, state: 'again' };
  if (now.state === 'stays') return excess <= now.excess + 1 ? now : again;
  if (excess <= 1) return { ...now, excess, state: 'stays' };
  if (excess < GROWN * now.excess) return again;
  return now.state === 'first' ? { ...now, state: 'fluid' } : { ...now, excess, state: 'stays' };
}
