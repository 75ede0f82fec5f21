/**
 * Logs the acts of operators in the security log and the audit log: the actor, the act, and the state before and after it. A refused act is
 * logged with the code of its refusal. The state before is read separately, right before the act; another request may change it in between.
 */
import { preparing, ServiceError } from '../../core/errors.ts';
import type { Author } from '../../core/keys/author.ts';
import type { Logger } from '../base/basics.ts';
import type { SecurityEvent, SecurityLog } from '../base/security-log.ts';
import type { AuditLog, BegunAct } from './audit-ports.ts';

/** The person or program that acts, as an edge identifies it. */
export interface HttpActor {
  readonly by: 'http';
  /** See core/edge/address-group.ts. */
  readonly address: string;
  /** The number of the secret of `API_SECRET` that was used, from 1; absent for a key. */
  readonly credential?: number;
  readonly key?: Author;
}

export type Fields = Readonly<Record<string, unknown>>;

export interface ActPorts {
  readonly security: SecurityLog;
  readonly log: Pick<AuditLog, 'begin' | 'end'>;
  readonly logger: Logger;
}

export interface LoggedAct<T> {
  readonly event: SecurityEvent;
  readonly what: Fields;
  readonly before?: () => Promise<unknown>;
  readonly work: () => Promise<T>;
  /** The state after it: fields, or a word. */
  readonly after: (result: T) => unknown;
}

/**
 * Fields that may name a person stay out of the audit log, which outlives the person's erasure: an address is replaced by
 * a digest that only shows whether two addresses are equal, and the feed has the words that people put on a thread.
 */
const PERSONAL_FIELDS: ReadonlySet<string> = new Set([
  'address',
  'addresses',
  'domains',
  'labels',
  'assignee',
]);

/**
 * Carries the act out and logs it. An act whose entry can't be written to the audit log is not carried out; one whose outcome can't be
 * written stays there as unknown.
 */
export async function recordAct<T>(
  { security, log, logger }: ActPorts,
  actor: HttpActor,
  { event, what, before, work, after }: LoggedAct<T>,
): Promise<T> {
  async function note(position: string, code: string | null, result: unknown): Promise<void> {
    try {
      await log.end(position, code, toAuditDetails(Object(result) as Fields));
    } catch (err) {
      logger.error({ err, position, code }, 'the outcome of an action could not be written to the audit log');
    }
  }

  const author = actor.key ?? { kind: 'secret', number: actor.credential ?? 0 };
  const was = before === undefined ? {} : { before: await unlessRefused(before) };
  const fields = { actor, ...what, ...was };
  const details = toAuditDetails(what);
  const position = await preparing(log.begin({ author, act: event, ...targetOf(what), details }));
  let result: T;
  try {
    result = await work();
  } catch (error) {
    const code = error instanceof ServiceError ? error.code : 'internal_error';
    if (error instanceof ServiceError) security.note(event, { ...fields, refused: code });
    await note(position, code, {});
    throw error;
  }
  const is = after(result);
  security.note(event, { ...fields, after: is });
  await note(position, null, typeof is === 'string' ? { state: is } : is);
  return result;
}

const toAuditDetails = (fields: Fields): Fields =>
  Object.fromEntries(Object.entries(fields).filter(([name]) => !PERSONAL_FIELDS.has(name)));

/** The first identifier that the act names, or else its address. */
function targetOf(what: Fields): Pick<BegunAct, 'target' | 'targetAddress'> {
  const [, id] =
    Object.entries(what).find(([name, value]) => name.endsWith('Id') && typeof value === 'string') ?? [];
  if (typeof id === 'string') return { target: id };
  const { address } = what;
  const targetAddress = typeof address === 'string' ? address.trim().toLowerCase() : null;
  return { target: null, targetAddress };
}

/** null when it does not exist or the request is invalid: the act itself reports that. */
async function unlessRefused(read: () => Promise<unknown>): Promise<unknown> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof ServiceError && error.status < 500) return null;
    throw error;
  }
}
