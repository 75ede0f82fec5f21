/** The failure that a caller is told about; see error-registry.ts. The internal reason (`cause`) goes to the log only. */
import { ERRORS, type ErrorCode, type ErrorEntry } from './error-registry.ts';
import { fillInWords, REQUEST_FAULTS, type RequestFault, type TextValues } from './error-words.ts';
import type { NewEmail } from './thread/new-email.ts';

/** `message` of a send that was not recorded yet; not an error. */
export const PARTIAL_TEXT =
  'Die E-Mail wurde gesendet, konnte aber nicht in der Datenbank gespeichert werden. Sie wird nachgetragen, sobald das möglich ist.';

export interface ServiceErrorOptions {
  /** Values for the `{x}` of the registry's text. */
  readonly values?: TextValues;
  /** The path of what is wrong, when the text names it in another way than by its path; default: the value `field`. */
  readonly field?: string;
  /** Shown to the caller beside `error`, as `details`: a mail server's reply, or the event after which to continue. */
  readonly details?: string;
  /** For a send that failed: the email that is recorded, or will be. With `mayHaveHappened`: what may have been made. */
  readonly emailId?: string;
  /**
   * Of `database_unavailable`: the connection was lost after the database may have been told to commit. Nothing of the
   * kind may be begun anew; the same may be repeated under the same id.
   */
  readonly mayHaveHappened?: boolean;
  /** When the same request may succeed; only for codes with the status 429. */
  readonly retryAfterSeconds?: number;
  /** Of `thread_has_moved_on`: the emails that the writer has not seen, in the order in which they were recorded. */
  readonly newEmails?: readonly NewEmail[];
  /** The internal reason, for the log. */
  readonly cause?: unknown;
}

/** A failure with a stable code. Throw it anywhere; the outermost edge turns it into a response or a log line. */
export class ServiceError extends Error {
  readonly code: ErrorCode;
  /** HTTP status of the registry. */
  readonly status: number;
  readonly temporary: boolean;
  /** The German text, values filled in. */
  readonly text: string;
  /** The same in English. */
  readonly englishText: string;
  /**
   * The path of what is wrong, such as `attachments[0].filename`, or the name of a parameter or header; null: it is not one field. A backslash
   * stands before a dot or bracket of a name. Who reads a part of a request puts the name of the part before it.
   */
  field: string | null;
  readonly details: string | undefined;
  readonly emailId: string | undefined;
  readonly retryAfterSeconds: number | undefined;
  readonly newEmails: readonly NewEmail[] | undefined;
  readonly mayHaveHappened: boolean;
  /** Further mistakes of the same request, in the order in which they were found; see mistakes.ts. */
  others: readonly ServiceError[] = [];

  constructor(code: ErrorCode, options: ServiceErrorOptions = {}) {
    super(code, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'ServiceError';
    const entry: ErrorEntry = ERRORS[code];
    this.code = code;
    this.status = entry.status;
    this.temporary = entry.temporary;
    const { de, en } = fillInWords(entry.text, options.values);
    this.text = de;
    this.englishText = en;
    this.field = options.field ?? fieldOf(options.values) ?? entry.field ?? null;
    this.details = options.details;
    this.emailId = options.emailId;
    this.retryAfterSeconds = options.retryAfterSeconds;
    this.newEmails = options.newEmails;
    this.mayHaveHappened = options.mayHaveHappened ?? false;
  }
}

/** null: there is none, or several that exclude one another. */
function fieldOf({ field }: TextValues = {}): string | null {
  return typeof field === 'string' && field !== '' && !field.includes(', ') ? field : null;
}

/**
 * Names what the caller can look for: the same failure of `work`, with the id of what it may have made.
 *
 * @param isMade it exists, and `work` only reads it
 */
export async function naming<T>(id: string, work: Promise<T>, isMade = false): Promise<T> {
  try {
    return await work;
  } catch (error) {
    const isAway = isMade && error instanceof ServiceError && error.code === 'database_unavailable';
    if (!(error instanceof ServiceError && (error.mayHaveHappened || isAway))) throw error;
    throw new ServiceError(error.code, { cause: error.cause, emailId: id, mayHaveHappened: true });
  }
}

/** For a write that only prepares what a caller asks for: when its outcome is unknown, nothing of that has happened. */
export async function preparing<T>(write: Promise<T>): Promise<T> {
  try {
    return await write;
  } catch (error) {
    if (!(error instanceof ServiceError && error.mayHaveHappened)) throw error;
    throw new ServiceError(error.code, { cause: error.cause });
  }
}

/** The error `invalid_request` with a fault; `values` fill the fault's text. */
export function invalidRequest(fault: RequestFault, values: TextValues = {}, cause?: unknown): ServiceError {
  const { field } = values;
  return new ServiceError('invalid_request', {
    values: { detail: fillInWords(REQUEST_FAULTS[fault], values), ...(field === undefined ? {} : { field }) },
    cause,
  });
}
