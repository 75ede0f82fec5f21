/** Runs operations: audit(account → run). The rights of the caller were checked before the body was read. */
import type { ErrorCode } from '../../core/error-registry.ts';
import { ServiceError } from '../../core/errors.ts';
import type { Caller } from '../../core/keys/caller.ts';
import { recordAct, type ActPorts, type HttpActor } from '../access/record-act.ts';
import type {
  AccountRule,
  Act,
  Operation,
  OperationBasics,
  Resolved,
  RoutedOperation,
  Within,
} from './declaration.ts';
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

/** A call of an operation whose route is written by hand. */
export interface RoutedCall<Input extends object> extends Omit<Call, 'signal'> {
  readonly input: Input;
}

/** Does the work of a route that is written by hand, once the caller may, with the input to work with. */
export type PerformOperation<Deps> = <Input extends object, Output, Rule, Result extends Output>(
  operation: RoutedOperation<Input, Output, Rule, Deps>,
  call: RoutedCall<Input>,
  work: (input: Resolved<Rule, Input>, deps: Deps) => Promise<Result>,
) => Promise<Result>;

export interface OperationRunner<Deps> {
  readonly run: RunOperation<Deps>;
  readonly perform: PerformOperation<Deps>;
}

export interface RunPorts<Deps> {
  readonly accounts: AccountsPorts;
  readonly acts: ActPorts;
  readonly deps: Deps;
  /** Called after each write: it may be work for a loop. */
  readonly wake: () => void;
}

/** What guards an operation, without types: they were checked where it was declared. */
interface Guarded<Deps> {
  readonly method: OperationBasics['method'];
  readonly account: AccountRule<object, unknown, Deps>;
  readonly act?: Act<object, unknown, Deps>;
}

export function createOperationRunner<Deps>({
  accounts,
  acts,
  deps,
  wake,
}: RunPorts<Deps>): OperationRunner<Deps> {
  /** The input to run with, once the caller may. */
  async function resolve({ account }: Guarded<Deps>, input: object, seen: Seen): Promise<object> {
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

  async function guard(
    { account, act: logged, ...operation }: Guarded<Deps>,
    { caller, actor, input }: Omit<Call, 'signal'>,
    work: (input: object) => Promise<unknown>,
  ): Promise<unknown> {
    const seen = new Seen(caller.accounts, accounts);
    const workWith = async (resolved: Promise<object>) => {
      const output = await work(await resolved);
      if (typeof account === 'object' && 'shown' in account)
        requireSeen(account, account.shown(output), seen);
      return output;
    };
    if (logged === undefined || logged.unless?.(input) === true)
      return workWith(resolve({ ...operation, account }, input, seen));

    let resolved: Promise<object> | undefined;
    const resolveOnce = (): Promise<object> => (resolved ??= resolve({ ...operation, account }, input, seen));
    const { event, what, before, after } = logged;
    return recordAct(acts, actor, {
      event,
      what: what(input),
      ...(before === undefined
        ? {}
        : { before: async () => before(seen.accounts === null ? input : await resolveOnce(), deps, caller) }),
      work: () => workWith(resolveOnce()),
      after,
    });
  }

  async function perform(
    operation: Guarded<Deps>,
    call: Omit<Call, 'signal'>,
    work: (input: object) => Promise<unknown>,
  ): Promise<unknown> {
    const working = guard(operation, call, work);
    return operation.method === 'GET' ? working : working.finally(wake);
  }

  return {
    run: async (operation, call) =>
      perform(operation as unknown as Guarded<Deps>, call, (input) =>
        operation.run(call.caller, input as never, deps, call.signal),
      ),
    perform: ((
      operation: unknown,
      call: RoutedCall<object>,
      work: (input: object, deps: Deps) => Promise<unknown>,
    ) => perform(operation as Guarded<Deps>, call, (input) => work(input, deps))) as PerformOperation<Deps>,
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
