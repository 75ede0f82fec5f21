/** A variable has a value that can't be used. The message names the variable and never shows a secret. */
export class ConfigError extends Error {
  constructor(variable: string, reason: string) {
    super(`${variable}: ${reason}`);
    this.name = 'ConfigError';
  }
}
