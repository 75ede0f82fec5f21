/**
 * An operation of the API, declared once: its path, its rights, how the account of what it touches is found, how the audit log names it, its
 * schemas, and what it does. Its route, the check of its input, its document and its entry in the audit log follow from it.
 */
import type { ErrorCode } from '../../core/error-registry.ts';
import type { Caller } from '../../core/keys/caller.ts';
import type { Right } from '../../core/keys/rights.ts';
import type { Fields } from '../access/record-act.ts';
import type { SecurityEvent } from '../base/security-log.ts';
import type { Seen } from './seen-accounts.ts';
import { camelCase, type Properties, type Schema, type Value, type ValueOf } from './values.ts';

/** Fields of an act in the logs. */
export type ActFields = Fields;

/**
 * How a key that is limited to accounts is kept within them:
 * - `none`: what the operation touches belongs to no account, or the operation checks its caller itself.
 * - `every`: it concerns all accounts, so such a key is refused.
 * - `list`: it reads what is within the accounts of the caller, or within the `account_id` of the input; `run` gets `within`.
 * - `of`: it touches one thing, whose account is looked up first. Of another account: `missing`. `shared` says what becomes of a thing of
 *   all accounts, or of none: it is `missing` too, `allowed`, or `refused` since the caller may see it and not change it.
 * - `shown`: the same for a read, whose answer has the account.
 * - `decide`: the account follows from the input; returns the input to run with. It is called for every caller.
 */
export type AccountRule<Input, Output, Deps> =
  | 'none'
  | 'every'
  | 'list'
  | {
      /** null: of all accounts, or of none; undefined: the thing does not exist. */
      readonly of: (input: Input, deps: Deps) => Promise<string | null | undefined>;
      readonly missing: ErrorCode;
      readonly shared?: 'allowed' | 'refused';
    }
  | {
      readonly shown: (output: Output) => string | null;
      readonly missing: ErrorCode;
      readonly shared?: 'allowed';
    }
  | { readonly decide: (input: Input, seen: Seen, deps: Deps) => Promise<Input> };

/** The accounts to read: those of the caller; null: all. */
export interface Within {
  readonly within: readonly string[] | null;
}

/** The input of `run`, once the caller may. */
export type Resolved<Rule, Input> = Rule extends 'list' ? Input & Within : Input;

/** An act that the audit log and the security log have. */
export interface Act<Input, Output, Deps> {
  readonly event: SecurityEvent;
  /** True: the request changes nothing, so it is no act. */
  readonly unless?: (input: Input) => boolean;
  /** What the act is about. The first field whose name ends in `Id` is its target. */
  readonly what: (input: Input) => ActFields;
  /** The state before; null in the log when the caller may not see it. */
  readonly before?: (input: Input, deps: Deps, caller: Caller) => Promise<ActFields | string | null>;
  /** Fields, or the name of a state. */
  readonly after: (output: Output) => ActFields | string | null;
}

/** What every operation says of itself, whatever its route. */
export interface OperationBasics {
  readonly id: string;
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** With parameters as `:id`. */
  readonly path: `/api/${string}`;
  /** All of them are needed; one of them with `anyOf`. */
  readonly right: Right | readonly Right[] | { readonly anyOf: readonly Right[] };
  readonly tag: string;
  readonly summary: string;
  readonly description: string;
}

/** What stands in the request of an operation, besides its path and its secret. */
export interface RequestSchemas {
  readonly params?: Properties;
  readonly query?: Properties;
  /** Names in `query`. Default: none has to be given. */
  readonly requiredQuery?: readonly string[];
  /** An object with a title. */
  readonly body?: Schema;
}

/** What an operation is, whatever its types. */
export interface OperationFacts extends OperationBasics, RequestSchemas {
  /** The body is this field of the input; by default its properties are fields beside the others. For a name that the path has too. */
  readonly bodyAs?: 'body';
  /** True: a request without a body is one with an empty object. */
  readonly bodyOptional?: boolean;
  /** Default: 4 KiB. */
  readonly maxBodyBytes?: number;
  /** Requests under way at the same time; of one key half of them. Default: no bound of its own. */
  readonly atOnce?: number;
  /** The version in If-Match, as `version` of the input; null: any. */
  readonly ifMatch?: { readonly need: 'required' | 'optional'; readonly text: string };
  readonly answer: string;
  /** True: 201 instead of 200. */
  readonly creates?: boolean;
  readonly output: Schema;
  /** Beyond those that follow from the schemas, the rights and the account rule. */
  readonly errors?: readonly ErrorCode[];
}

type BodyInput<B, As> = [B] extends [undefined]
  ? unknown
  : [As] extends ['body']
    ? { readonly body: Value<B> }
    : Value<B>;
type VersionInput<M> = M extends { readonly need: 'required' }
  ? { readonly version: number }
  : M extends { readonly need: 'optional' }
    ? { readonly version: number | null }
    : unknown;

type InputOf<P, Q, N, B, M, As> = object &
  ([P] extends [undefined] ? unknown : ValueOf<P, keyof P>) &
  ValueOf<Q, N> &
  BodyInput<B, As> &
  VersionInput<M>;

interface Typed<P, Q, N, B, M, As, Out, Rule, Deps> {
  readonly params?: P;
  readonly query?: Q;
  readonly requiredQuery?: readonly (N & keyof Q)[];
  readonly body?: B;
  readonly bodyAs?: As;
  readonly ifMatch?: M;
  readonly output: Out;
  readonly account: Rule;
  /** ETag of the answer. */
  readonly versionOf?: (output: Value<Out>) => number;
  readonly act?: Act<InputOf<P, Q, N, B, M, As>, Value<Out>, Deps>;
  readonly run: (
    caller: Caller,
    input: Resolved<Rule, InputOf<P, Q, N, B, M, As>>,
    deps: Deps,
    signal: AbortSignal,
  ) => Promise<Value<Out>>;
}

/** An operation without the types of its input and output, for what treats all operations alike. */
export interface Operation<Deps = never> extends OperationFacts {
  readonly account: AccountRule<never, never, Deps>;
  readonly versionOf?: (output: never) => number;
  readonly act?: Act<never, never, Deps>;
  readonly run: (caller: Caller, input: never, deps: Deps, signal: AbortSignal) => Promise<unknown>;
}

/**
 * An operation whose route is written by hand, since its body or its answer is a stream, or ready JSON. Its route has the schemas, reads the
 * input, and has what guards it done by the same runner.
 */
export interface RoutedOperation<Input extends object, Output, Rule, Deps> extends OperationBasics {
  readonly account: Rule & AccountRule<Input, Output, Deps>;
  readonly act?: Act<Input, Output, Deps>;
}

/**
 * Returns the function that declares the operations of routes written by hand, by the types of their input and output. It throws TypeError when a
 * write would look for the account in its answer.
 */
export function routedWith<Deps>() {
  return <Input extends object, Output>() =>
    <const Rule extends AccountRule<Input, Output, Deps>>(
      operation: RoutedOperation<Input, Output, Rule, Deps>,
    ): RoutedOperation<Input, Output, Rule, Deps> => {
      refuseLateAccount(operation);
      return operation;
    };
}

/** Returns the function that declares operations which use `Deps`. It throws TypeError when two inputs have the same name, and when a write would look for the account in its answer. */
export function operationsWith<Deps>() {
  return <
    const P extends Properties | undefined = undefined,
    const Q extends Properties | undefined = undefined,
    const N extends string = never,
    const B extends Schema | undefined = undefined,
    const M extends OperationFacts['ifMatch'] = undefined,
    const As extends 'body' | undefined = undefined,
    const Out extends Schema = Schema,
    const Rule extends AccountRule<InputOf<P, Q, N, B, M, As>, Value<Out>, Deps> = AccountRule<
      InputOf<P, Q, N, B, M, As>,
      Value<Out>,
      Deps
    >,
  >(
    declaration: Omit<OperationFacts, 'params' | 'query' | 'body' | 'bodyAs' | 'ifMatch' | 'output'> &
      Typed<P, Q, N, B, M, As, Out, Rule, Deps>,
  ): Operation<Deps> => {
    const operation = declaration as unknown as Operation<Deps>;
    const names = inputNames(operation);
    const twice = names.find((name, index) => names.indexOf(name) !== index);
    if (twice !== undefined) throw new TypeError(`${operation.id} has two inputs with the name ${twice}`);
    refuseLateAccount(operation);
    return operation;
  };
}

function refuseLateAccount({
  id,
  method,
  account,
}: Pick<OperationBasics, 'id' | 'method'> & { readonly account: unknown }): void {
  if (method !== 'GET' && typeof account === 'object' && account !== null && 'shown' in account)
    throw new TypeError(`${id} would write before the account is known`);
}

export const inputNames = ({
  params = {},
  query = {},
  body,
  bodyAs,
  ifMatch,
}: OperationFacts): readonly string[] =>
  [
    ...Object.keys(params),
    ...Object.keys(query),
    ...(bodyAs === undefined ? Object.keys(body?.properties ?? {}) : [bodyAs]),
    ...(ifMatch === undefined ? [] : ['version']),
  ].map(camelCase);

export const rightsOfOperation = ({
  right,
}: OperationBasics): { all: readonly Right[]; any: readonly Right[] } =>
  typeof right === 'object' && 'anyOf' in right
    ? { all: [], any: right.anyOf }
    : { all: [right].flat() as readonly Right[], any: [] };
