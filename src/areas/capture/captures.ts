/** What rules would do with what is recorded of an account, and the removal of what its own rules leave out. */
import { rulesDigest, type CaptureRules, type LeftOutReason } from '../../core/mailbox/capture.ts';
import { ServiceError } from '../../core/errors.ts';
import { nameOf } from '../../core/keys/author.ts';
import { keyIdOf, type Caller } from '../../core/keys/caller.ts';
import type { IdSource } from '../../platform/base/basics.ts';
import type { RequireCertainty } from '../../platform/files/file-ports.ts';
import type { AccountDirectory, AccountFacts } from '../accounts/account-ports.ts';
import { JUDGED_CURSOR, judgeAccount, type JudgeAccountPorts, type JudgedPart } from './judge-account.ts';
import type { Removal, RemovalStore } from './removal-ports.ts';

export interface CapturePorts extends JudgeAccountPorts {
  readonly removals: Pick<RemovalStore, 'request' | 'read' | 'stop'>;
  readonly directory: Pick<AccountDirectory, 'known' | 'refresh'>;
  /** The rules of the accounts that this process can use, now. */
  readonly rules: () => ReadonlyMap<string, CaptureRules | null>;
  /** `capture` of ACCOUNTS_FILE. Throws `invalid_account`. */
  readonly readRules: (capture: unknown) => CaptureRules | null;
  readonly ids: IdSource;
  readonly requireCertainty: RequireCertainty;
  /** Starts a removal soon. */
  readonly wake: () => void;
}

export interface CapturePreview extends Omit<JudgedPart, 'next'> {
  /** Messages in the mailboxes that are left out now. */
  readonly leftOutNow: Readonly<Record<LeftOutReason, number>>;
  readonly nextCursor: string | null;
}

export interface RemovalInput {
  readonly version: number;
  /** As the preview counted them. */
  readonly emails: number;
  readonly dryRun: boolean;
}

export type Captures = ReturnType<typeof createCaptures>;

/** Emails that the request for a removal judges itself, so that a wrong number is refused at once where there are no more. */
const CHECKED_AT_ONCE = 1000;

/** All throw `account_not_found`, `account_unavailable` and `database_unavailable`. */
export function createCaptures(ports: CapturePorts) {
  const { removals, directory, rules, readRules, recorded, ids, requireCertainty, wake } = ports;

  /** As all processes know it, or will within seconds. */
  async function findAccount(
    id: string,
  ): Promise<Pick<AccountFacts, 'version' | 'isDeclared'> & { readonly capture: CaptureRules | null }> {
    await directory.refresh();
    const account = directory.known.get(id);
    if (account === undefined) throw new ServiceError('account_not_found');
    const capture = rules().get(id);
    if (capture === undefined) throw new ServiceError('account_unavailable', { values: { value: id } });
    return { version: account.version, isDeclared: account.isDeclared, capture };
  }

  return {
    /**
     * Judges some emails by proposed rules, from a cursor on. Throws `invalid_cursor`, `invalid_account`, `reading_unavailable` and
     * `storage_unavailable`.
     *
     * @param proposed `capture` of ACCOUNTS_FILE, null for no rules; undefined: the account's own rules
     */
    async preview(
      id: string,
      proposed: unknown,
      { cursor, limit }: { readonly cursor: string | null; readonly limit: number },
      signal: AbortSignal,
    ): Promise<CapturePreview> {
      const from = JUDGED_CURSOR.parse(cursor);
      const account = await findAccount(id);
      const capture = proposed === undefined ? account.capture : readRules(proposed);
      const [{ next, ...part }, leftOutNow] = await Promise.all([
        judgeAccount(ports, { accountId: id, capture }, { from, limit, signal }),
        recorded.countLeftOut(id),
      ]);
      return { ...part, leftOutNow, nextCursor: JUDGED_CURSOR.format(next) };
    },

    /**
     * Removes what the account's own rules leave out, in the background; a dry run throws the same errors, and returns null. Throws
     * `account_declared`, `account_changed`, `left_out_changed`, `removal_running`, and what `RequireCertainty` throws.
     */
    async remove(
      caller: Caller,
      id: string,
      { version, emails, dryRun }: RemovalInput,
    ): Promise<Removal | null> {
      await requireCertainty();
      const account = await findAccount(id);
      // Its version does not change with its rules, so that it could confirm other ones than those of the preview.
      if (account.isDeclared) throw new ServiceError('account_declared', { values: { value: id } });
      if (account.version !== version)
        throw new ServiceError('account_changed', { details: String(account.version) });
      const running = await removals.read(id);
      if (running !== null && running.finishedAt === null) throw new ServiceError('removal_running');
      const digest = rulesDigest(account.capture);
      const { counts, next } = await judgeAccount(
        ports,
        { accountId: id, capture: account.capture },
        { from: null, limit: CHECKED_AT_ONCE },
      );
      // Among more emails, the removal counts before it removes any.
      if (digest === null || counts.removable > emails || (next === null && counts.removable !== emails))
        throw new ServiceError('left_out_changed', { values: { count: counts.removable } });
      if (dryRun) return null;
      const removal = await removals.request({
        id: ids.uuid(),
        accountId: id,
        requestedBy: nameOf(caller.author),
        authorKey: keyIdOf(caller),
        rulesDigest: digest,
        confirmed: emails,
      });
      if (removal === null) throw new ServiceError('removal_running');
      wake();
      return removal;
    },

    /** The newest removal. Throws `removal_not_found`. */
    read: async (id: string): Promise<Removal> => found(await removals.read(id)),

    /** Removes nothing more; one that has ended stays as it is. Throws `removal_not_found`. */
    async stop(caller: Caller, id: string): Promise<Removal> {
      const removal = found(await removals.stop(id, keyIdOf(caller)));
      // Its list is forgotten.
      wake();
      return removal;
    },
  };
}

function found(removal: Removal | null): Removal {
  if (removal === null) throw new ServiceError('removal_not_found');
  return removal;
}
