/**
 * Collects the mistakes of one request, so that its caller can correct all of them at once. The first decides the answer, as if it had been
 * the only one: the others are added to it. Checks go on after a mistake only where nothing is done for them but reading the request.
 */
import type { ErrorCode } from './error-registry.ts';
import { ServiceError } from './errors.ts';

/** Mistakes that one answer lists. No form shows more, and a hostile request must not get a large answer for a few bytes. */
export const MAX_PROBLEMS = 20;

/** Mistakes that are looked at, with those that are dropped: a list may repeat one a million times, and each takes microseconds. */
const MAX_NOTED = 2 * MAX_PROBLEMS;

/** Takes a mistake that a check has found; the check may go on. Throws when no further one is wanted. */
export type NoteMistake = (mistake: ServiceError) => void;

/** For a check that ends with its first mistake. */
export const refuse: NoteMistake = (mistake) => {
  throw mistake;
};

/** True for what is wrong with one field, parameter or header. Other refusals are about the whole request, or about what it meets. */
const isMistake = ({ status, field }: ServiceError): boolean => status === 400 && field !== null;

/**
 * The failure to throw for one that a check threw: when that is a mistake, it lists those that `look` finds in the rest of the request. So
 * nothing is looked for in a request without mistakes, and the first one stays the first.
 */
export function withOtherMistakes<Failure>(error: Failure, look: (mistakes: Mistakes) => void): Failure {
  if (!(error instanceof ServiceError && isMistake(error))) return error;
  const mistakes = new Mistakes();
  try {
    mistakes.note(error);
    look(mistakes);
    mistakes.refuseAny();
  } catch (refusal) {
    // A fault of the search is no refusal.
    if (!(refusal instanceof ServiceError)) throw refusal;
    // Another refusal would hide the mistake, which is what the caller has to know.
    if (refusal !== error) error.others = mistakes.others;
  }
  return error;
}

/** A field that is a list of texts may have several of these. */
const VALUED: ReadonlySet<ErrorCode> = new Set(['invalid_address', 'invalid_tag']);

export class Mistakes {
  readonly #max: number;
  readonly #found: ServiceError[] = [];
  #noted = 0;

  /** @param max after so many no other is looked for; at least 1 */
  constructor(max = MAX_PROBLEMS) {
    this.#max = max;
  }

  get any(): boolean {
    return this.#found.length > 0;
  }

  /** All but the first. */
  get others(): readonly ServiceError[] {
    return this.#found.slice(1);
  }

  /**
   * Throws the first mistake once there are as many as are wanted, or when one comes that can't be listed. A further mistake of a field is
   * dropped, since it may only follow from the one before, unless it is of another address of a list, or another tag.
   */
  readonly note: NoteMistake = (mistake) => {
    if (!isMistake(mistake)) {
      this.refuseAny();
      throw mistake;
    }
    const { code, field, text } = mistake;
    const ofField = this.#found.filter((one) => one.field === field);
    const isOfAnotherValue = ofField.every((one) => one.code === code && one.text !== text);
    if (ofField.length === 0 || (isOfAnotherValue && VALUED.has(code))) this.#found.push(mistake);
    this.#noted += 1;
    if (this.#found.length >= this.#max || this.#noted >= MAX_NOTED) this.refuseAny();
    for (const other of mistake.others) this.note(other);
  };

  /** The result of `read`. After a mistake it is undefined, whatever its type: `refuseAny` must come before it is used. */
  readonly check = <T>(read: () => T): T => {
    try {
      return read();
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error;
      this.note(error);
      return undefined as T;
    }
  };

  /** The result of `read`, which reads a part of the request: the mistakes that it finds or throws get their place in the request. */
  inPart<T>(part: string, read: () => T): T {
    const before = this.#found.length;
    try {
      return read();
    } catch (error) {
      if (error instanceof ServiceError && !this.#found.includes(error)) placeIn(part, error);
      throw error;
    } finally {
      for (const mistake of this.#found.slice(before)) placeIn(part, mistake);
    }
  }

  /** Throws the first mistake, which lists the others; does nothing when there is none. */
  refuseAny(): void {
    const [first] = this.#found;
    if (first === undefined) return;
    first.others = this.others;
    throw first;
  }
}

/** Some mistakes name their place already. */
function placeIn(part: string, mistake: ServiceError): void {
  const { field } = mistake;
  if (field !== null && !field.startsWith(`${part}.`)) mistake.field = `${part}.${field}`;
}
