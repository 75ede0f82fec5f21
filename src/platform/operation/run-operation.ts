/** Runs operations: audit(account → run). The rights of the caller were checked before the body was read. */
import { ServiceError } from '../../core/errors.ts';
import type { Caller } from '../../core/keys/caller.ts';
import { recordAct, type ActPorts, type HttpActor } from '../../app/audit/record-act.ts';
import type { Operation, Within } from './declaration.ts';
import { Seen, type AccountsPorts } from './seen-accounts.ts';

/** A call of an operation. */
export interface Call {
  readonly caller: Caller;
  readonly actor: HttpActor;
  /** As its schemas describe it; checked. */
  readonly input: object;
  /** Aborted when the service begins to stop. */
  readonly signal: AbortSignal;
}

export type RunOperation<Deps> = (operation: Operation<Deps>, call: Call) => Promise<unknown>;

export interface RunPorts<Deps> {
  readonly accounts: AccountsPorts;
  readonly acts: ActPorts;
  readonly deps: Deps;
}

/** An operation whose types were checked where it was declared. */
type Untyped<Deps> = Omit<Operation<Deps>, 'account' | 'act' | 'run'> & {
  readonly account:
    | 'none'
    | 'every'
    | 'list'
    | {
        readonly of: (input: object, deps: Deps) => Promise<string | null | undefined>;
        readonly missing: 'not_found';
        readonly shared?: 'allowed';
      }
    | { readonly decide: (input: object, seen: Seen, deps: Deps) => Promise<object> };
  readonly act?: {
    readonly event: 'webhook.created';
    readonly what: (input: object) => Readonly<Record<string, unknown>>;
    readonly before?: (input: object, deps: Deps) => Promise<unknown>;
    readonly after: (output: unknown) => unknown;
  };
  readonly run: (caller: Caller, input: object, deps: Deps, signal: AbortSignal) => Promise<unknown>;
};

export function createOperationRunner<Deps>({ accounts, acts, deps }: RunPorts<Deps>): RunOperation<Deps> {
  /** The input to run with, once the caller may. */
  async function resolve({ account }: Untyped<Deps>, input: object, seen: Seen): Promise<object> {
    if (account === 'none') return input;
    if (account === 'every') {
      if (seen.accounts !== null) throw new ServiceError('forbidden_account');
      return input;
    }
    if (account === 'list') {
      const { accountId = null } = input as { readonly accountId?: string | null };
      return { ...input, within: await seen.within(accountId) } satisfies Within;
    }
    if ('decide' in account) return account.decide(input, seen, deps);
    // What a caller who sees all accounts names is found, or not, by the operation.
    if (seen.accounts === null) return input;
    const accountId = await account.of(input, deps);
    const isShared = accountId === null && account.shared === 'allowed';
    if (accountId === undefined || !(isShared || seen.sees(accountId)))
      throw new ServiceError(account.missing);
    return input;
  }

  return async (operation, { caller, actor, input, signal }) => {
    const untyped = operation as unknown as Untyped<Deps>;
    const seen = new Seen(caller.accounts, accounts);
    const { act } = untyped;
    if (act === undefined) return untyped.run(caller, await resolve(untyped, input, seen), deps, signal);

    let resolved: Promise<object> | undefined;
    const resolveOnce = (): Promise<object> => (resolved ??= resolve(untyped, input, seen));
    const { before } = act;
    return recordAct(acts, actor, {
      event: act.event,
      what: act.what(input),
      ...(before === undefined ? {} : { before: async () => before(await resolveOnce(), deps) }),
      work: async () => untyped.run(caller, await resolveOnce(), deps, signal),
      after: act.after,
    });
  };
}
