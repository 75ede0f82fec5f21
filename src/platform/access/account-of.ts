/** Finds the account of a thing, for callers that see only some accounts. Nothing ever changes its account. */

/** null: the thing does not exist. All throw `ServiceError('database_unavailable')`. */
export interface AccountOf {
  /** Also works for a thread that was merged into another one. */
  thread(id: string): Promise<string | null>;
  /** Also works for a record that was merged into another email. */
  email(id: string): Promise<string | null>;
  /** True when all of them exist, and are of these accounts. */
  areWithin(emailIds: readonly string[], accounts: readonly string[]): Promise<boolean>;
  attachment(id: string): Promise<string | null>;
  quarantined(id: string): Promise<string | null>;
}
