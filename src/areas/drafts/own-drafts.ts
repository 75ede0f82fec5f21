/** Drafts within the accounts of their caller. */
import { ServiceError } from '../../core/errors.ts';
import type { Caller } from '../../core/keys/caller.ts';
import type { Seen } from '../../platform/operation/seen-accounts.ts';
import type { AccountOf } from '../../platform/access/account-of.ts';
import type { SendOnceResult } from '../send/use-cases.ts';
import type { Draft } from './draft-ports.ts';
import type { DraftChange, DraftUseCases } from './use-cases.ts';

interface Ports extends Pick<DraftUseCases, 'readDraft' | 'readDraftFile'> {
  readonly accountOf: Pick<AccountOf, 'thread' | 'email'>;
}

interface Named {
  readonly id: string;
}

export interface ChangedDraft {
  readonly change: Omit<DraftChange, 'authorKeyId'>;
}

export interface OwnedSend extends Named {
  /** null: any. */
  readonly version: number | null;
  /** True: only the answer of its send is left of it. */
  readonly isGone: boolean;
}

export const ownNewDraft = async (input: ChangedDraft, seen: Seen, ports: Ports): Promise<ChangedDraft> => ({
  change: await ownChange(input.change, null, seen, ports),
});

export async function ownChangedDraft<Input extends Named & ChangedDraft>(
  input: Input,
  seen: Seen,
  ports: Ports,
): Promise<Input> {
  if (seen.accounts === null && fromOf(input.change) === null) return input;
  return {
    ...input,
    change: await ownChange(input.change, await readOwn(input.id, seen, ports), seen, ports),
  };
}

export async function requireOwnDraft<Input extends Named>(
  input: Input,
  seen: Seen,
  ports: Ports,
): Promise<Input> {
  if (seen.accounts !== null) await readOwn(input.id, seen, ports);
  return input;
}

export async function ownDraftFile<Input extends Named & { readonly attachmentId: string }>(
  input: Input,
  seen: Seen,
  { readDraftFile }: Ports,
): Promise<Input> {
  const { id, attachmentId } = input;
  if (seen.accounts !== null && !seen.sees((await readDraftFile(id, attachmentId)).accountId))
    throw new ServiceError('draft_file_not_found', { values: { value: attachmentId } });
  return input;
}

/** The version that was checked: another one may be of another account. */
export async function ownDraftSend(input: OwnedSend, seen: Seen, ports: Ports): Promise<OwnedSend> {
  if (seen.accounts === null) return input;
  const draft = await ports.readDraft(input.id).catch(nullIfGone);
  if (draft === null) return { ...input, isGone: true };
  if (!seen.sees(draft.accountId)) throw new ServiceError('draft_not_found');
  return { ...input, version: input.version ?? draft.version };
}

/** A deleted draft only returns the answer of its send again, to callers who see the email. */
export async function requireOwnReplay(
  { outcome }: SendOnceResult,
  { accounts }: Pick<Caller, 'accounts'>,
  { accountOf }: Pick<Ports, 'accountOf'>,
): Promise<void> {
  if (accounts === null) return;
  const accountId =
    outcome.kind === 'sent' || outcome.kind === 'queued' ? await accountOf.email(outcome.id) : null;
  if (accountId === null || !accounts.includes(accountId)) throw new ServiceError('draft_not_found');
}

async function readOwn(id: string, seen: Seen, { readDraft }: Ports): Promise<Draft> {
  const draft = await readDraft(id);
  if (!seen.sees(draft.accountId)) throw new ServiceError('draft_not_found');
  return draft;
}

/** Everything that the draft names must be the caller's, and a draft that names nothing gets an account. */
async function ownChange(
  change: ChangedDraft['change'],
  old: Draft | null,
  seen: Seen,
  { accountOf }: Ports,
): Promise<ChangedDraft['change']> {
  const from = fromOf(change);
  if (seen.accounts === null && from === null) return change;
  const message = { ...old?.message, ...change.message };
  const answers = change.answers === undefined ? (old?.answers ?? null) : change.answers;
  const { account_id: accountId, thread_id: threadId } = message;
  if (typeof accountId === 'string') await seen.requireNamed(accountId);
  if (typeof threadId === 'string')
    await seen.require(() => accountOf.thread(threadId.toLowerCase()), 'thread_not_found');
  if (answers !== null) await seen.require(() => accountOf.email(answers.emailId), 'email_not_found');
  if (answers !== null || typeof threadId === 'string' || typeof accountId === 'string') return change;
  const chosen =
    from === null ? (old?.accountId ?? (await seen.chosen(null))) : inMessage(() => seen.sender(from));
  return { ...change, message: { ...change.message, account_id: chosen } };
}

const fromOf = ({ unfinished }: ChangedDraft['change']): string | null => unfinished?.from ?? null;

/** A refusal names the field of a send as a part of the draft. */
export function inMessage<Result>(check: () => Result): Result {
  try {
    return check();
  } catch (error) {
    throw ofMessage(error);
  }
}

/** The same for an error of a send; files are a part of the draft itself. */
export function ofMessage(error: unknown): unknown {
  if (!(error instanceof ServiceError)) return error;
  for (const one of [error, ...error.others])
    if (one.field !== null && !one.field.startsWith('attachments')) one.field = `message.${one.field}`;
  return error;
}

/** Throws any other error. */
function nullIfGone(error: unknown): null {
  if (error instanceof ServiceError && error.code === 'draft_not_found') return null;
  throw error;
}
