import type { ParseLimitName } from './parse-limits.ts';
import type { ParsedMessage } from './parsed-message.ts';

/** A received message exceeds a limit. `partial` is the part that was read within the limits, and can be recorded. */
export class MessageLimitError extends Error {
  /** The limit that was exceeded first. */
  readonly limit: ParseLimitName;
  /** Everything up to the limits; `defects` contains `limit_passed`. */
  readonly partial: ParsedMessage;

  constructor(limit: ParseLimitName, partial: ParsedMessage) {
    super(`a received message exceeds the limit ${limit}`);
    this.name = 'MessageLimitError';
    this.limit = limit;
    this.partial = partial;
  }
}
