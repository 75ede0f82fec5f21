/**
 * The one error with which the embedded PostgreSQL refuses to start. Operators read it in the log, not callers of the API, so it is in
 * English and not part of the registry in core/errors.ts.
 */
export class EmbeddedPostgresError extends Error {
  readonly code = 'embedded_postgres_unavailable';

  /** `reason` is one or more sentences without a final full stop; the constructor adds the way out (`DATABASE_URL`). */
  constructor(reason: string, options: { readonly cause?: unknown } = {}) {
    super(
      `The embedded PostgreSQL can't be used: ${reason}. ` +
        'Set DATABASE_URL to use an external PostgreSQL server instead.',
      options.cause === undefined ? undefined : { cause: options.cause },
    );
    this.name = 'EmbeddedPostgresError';
  }
}
