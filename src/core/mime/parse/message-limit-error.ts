import type { ParseLimitName } from './parse-limits.ts';
import type { ParsedMessage } from './parsed-message.ts';

/** A received message passes a limit. What could be read within the limits is in `partial`, and fit to be recorded. */
export class MessageLimitError extends Error {
  /** The limit that was passed first. */
  readonly limit: ParseLimitName;
  /** Everything up to the limits; `defects` says `limit_passed`. */
  readonly partial: ParsedMessage;

  constructor(limit: ParseLimitName, partial: ParsedMessage) {
    super(`a received message exceeds the limit ${limit}`);
    this.name = 'MessageLimitError';
    this.limit = limit;
    this.partial = partial;
  }
}
