/** Runs operations: audit(account → run). The rights of the caller were checked before the body was read. */
import { ServiceError, type ErrorCode } from '../../core/errors.ts';
import type { Caller } from '../../core/keys/caller.ts';
import { recordAct, type ActPorts, type HttpActor } from '../../app/audit/record-act.ts';
import type { AccountRule, Act, Operation, Within } from './declaration.ts';
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
  /** Called after each write: it may be work for a loop. */
  readonly wake: () => void;
}

/** An operation whose types were checked where it was declared. */
type Untyped<Deps> = Omit<Operation<Deps>, 'account' | 'act' | 'run'> & {
  readonly account: AccountRule<object, unknown, Deps>;
  readonly act?: Act<object, unknown, Deps>;
  readonly run: (caller: Caller, input: object, deps: Deps, signal: AbortSignal) => Promise<unknown>;
};

export function createOperationRunner<Deps>({
  accounts,
  acts,
  deps,
  wake,
}: RunPorts<Deps>): RunOperation<Deps> {
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
    if ('shown' in account || seen.accounts === null) return input;
    requireSeen(account, await account.of(input, deps), seen);
    return input;
  }

  async function work(operation: Untyped<Deps>, call: Call, resolved: Promise<object>): Promise<unknown> {
    const { caller, signal } = call;
    const { account } = operation;
    const output = await operation.run(caller, await resolved, deps, signal);
    if (typeof account === 'object' && 'shown' in account)
      requireSeen(account, account.shown(output), new Seen(caller.accounts, accounts));
    return output;
  }

  async function act(operation: Untyped<Deps>, call: Call): Promise<unknown> {
    const { caller, actor, input } = call;
    const seen = new Seen(caller.accounts, accounts);
    const { act: logged } = operation;
    if (logged === undefined || logged.unless?.(input) === true)
      return work(operation, call, resolve(operation, input, seen));

    let resolved: Promise<object> | undefined;
    const resolveOnce = (): Promise<object> => (resolved ??= resolve(operation, input, seen));
    const { event, what, before, after } = logged;
    return recordAct(acts, actor, {
      event,
      what: what(input),
      ...(before === undefined
        ? {}
        : { before: async () => before(seen.accounts === null ? input : await resolveOnce(), deps, caller) }),
      work: () => work(operation, call, resolveOnce()),
      after,
    });
  }

  return async (operation, call) => {
    const running = act(operation as unknown as Untyped<Deps>, call);
    return operation.method === 'GET' ? running : running.finally(wake);
  };
}

interface SeenRule {
  readonly missing: ErrorCode;
  readonly shared?: 'allowed' | 'refused';
}

/** Throws what the rule says unless the caller may have a thing of this account. */
function requireSeen({ missing, shared }: SeenRule, accountId: string | null | undefined, seen: Seen): void {
  if (accountId === null && shared === 'allowed') return;
  if (accountId === null && shared === 'refused' && seen.accounts !== null)
    throw new ServiceError('forbidden_account');
  if (accountId === undefined || !seen.sees(accountId)) throw new ServiceError(missing);
}
