/** Dry runs: the work of a transaction, which is then rolled back. */

/** Throw it as the last step of a transaction that must leave no trace. */
export class DryRunEnd extends Error {
  readonly result: unknown;

  constructor(result: unknown) {
    super('a dry run ends');
    this.name = 'DryRunEnd';
    this.result = result;
  }
}

/** The result of the work that `transaction` did, kept or rolled back. */
export async function withDryRun<T>(transaction: Promise<T>): Promise<T> {
  try {
    return await transaction;
  } catch (error) {
    if (error instanceof DryRunEnd) return error.result as T;
    throw error;
  }
}
