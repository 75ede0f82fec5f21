/** Logs a lasting failure only once: when it begins, and when it becomes a different one. */
import { ServiceError } from '../../core/errors.ts';
import type { Logger } from './basics.ts';

export interface FailureLog {
  failed(error: unknown, fields?: object): void;
  /** Has the next failure logged, whatever it is. True when a failure has ended. */
  worked(): boolean;
}

/** @param text the meaning of a failure, for the operator. A warning when the cause is temporary, else an error. */
export function createFailureLog(logger: Logger, text: string): FailureLog {
  let last: string | null = null;
  return {
    failed(err, fields = {}) {
      const kind = kindOf(err);
      if (kind === last) return;
      last = kind;
      const level = err instanceof ServiceError && err.temporary ? 'warn' : 'error';
      logger[level]({ ...fields, err }, text);
    },
    worked() {
      const hadFailed = last !== null;
      last = null;
      return hadFailed;
    },
  };
}

/** The errors of an unavailable database differ in their words; they are one failure. */
function kindOf(error: unknown): string {
  if (error instanceof ServiceError) return error.code;
  return error instanceof Error ? `${error.name}: ${error.message}` : String(error);
}
