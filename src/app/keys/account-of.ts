/** Which account a thing belongs to, for callers that see some accounts only. No thing ever changes its account. */

/** null: there is no such thing. All throw `ServiceError('database_unavailable')`. */
export interface AccountOf {
  /** Also of one that was merged into another thread. */
  thread(id: string): Promise<string | null>;
  /** Also of a record that was merged into another email. */
  email(id: string): Promise<string | null>;
  /** True when all of them exist, and are of these accounts. */
  areWithin(emailIds: readonly string[], accounts: readonly string[]): Promise<boolean>;
  attachment(id: string): Promise<string | null>;
  quarantined(id: string): Promise<string | null>;
}
