/** `Beyond` in its stored form. */
export interface BeyondJson {
  readonly delivered: readonly number[];
  /** Missing until something is stored. */
  readonly stored_at?: string;
  readonly failed: readonly {
    readonly position: number;
    readonly attempts: number;
    readonly since: string;
    readonly due_at: string;
  }[];
}
