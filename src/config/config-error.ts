/** A variable has a value that can't be used. The message names the variable and never shows a secret. */
export class ConfigError extends Error {
  /** The variable, or the field of the accounts file or of a request. */
  readonly place: string;
  /** English. */
  readonly reason: string;

  constructor(place: string, reason: string) {
    super(`${place}: ${reason}`);
    this.name = 'ConfigError';
    this.place = place;
    this.reason = reason;
  }
}
