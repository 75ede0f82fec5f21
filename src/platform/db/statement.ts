/**
 * SQL statements: constants with a name, a text and types. `npm run statements` has PostgreSQL check each of them against the schema and
 * writes the types into `statements.generated.ts` of its area; `npm run check` fails if they differ.
 *
 * Parameters are `$name` in the text. A statement is sent by its name, so each connection has it parsed once and planned a few times at
 * most. A statement whose best plan depends on its values is planned each time, and gives the reason.
 */
import type { QueryResult } from 'pg';
import { isStorable, toStorable } from '../../core/storable-text.ts';
import { guard, guardCommit } from './pool.ts';
import type { GroupedQuery } from './statement-group.ts';
import { statementTimes, timed } from './statement-times.ts';
import { tracedStatements } from './statement-spans.ts';

/** Name → types. The generated files of the areas add to it. */
// eslint-disable-next-line typescript/no-empty-object-type -- filled by declaration merging
export interface StatementTypes {}

interface Types {
  /** Parameters by name. */
  values: object;
  /** Columns by name. */
  row: object;
}

export type TypesOf<Name extends keyof StatementTypes> = StatementTypes[Name] extends Types
  ? StatementTypes[Name]
  : never;

/**
 * Executes statements: the pool for a single statement, or the connection of a transaction. The part of `pg.Pool` and `pg.PoolClient` that
 * statements need.
 */
export interface Executor {
  query(config: { name?: string; text: string; values: unknown[] }): Promise<QueryResult>;
}

export interface StatementText {
  readonly name: string;
  /** With `$1`, `$2` …, as the server gets it. */
  readonly text: string;
  /** The names of `$1`, `$2` … */
  readonly parameters: readonly string[];
  /** Sent without its name: planned for its values. */
  readonly isPlannedEachTime: boolean;
  /** A part of statements that returns its rows as JSON; never sent by itself. */
  readonly isJson?: boolean;
}

export interface Statement<Values extends object, Row extends object> extends StatementText {
  /**
   * Declares more about columns than the schema can: that a computed one is never null, or the type of a JSON one. The compiler checks that
   * each is a column of the statement and may have that type.
   */
  narrow<Known extends Narrower<Row, Known>>(): Statement<Values, Narrowed<Row, Known>>;
  /** For the compiler only. */
  readonly types?: { readonly values: Values; readonly row: Row };
}

export type Narrower<Row, Known> = { [Key in keyof Known]: Key extends keyof Row ? Row[Key] : never };
export type Narrowed<Row, Known> = { [Key in keyof Row]: Key extends keyof Known ? Known[Key] : Row[Key] };

/** A row that the statement returns. */
export type RowOf<S> = S extends Statement<infer _Values, infer Row> ? Row : never;

/** Statements that differ in their conditions; each choice selects one. */
export interface Family<Choice, Values extends object, Row extends object> {
  /** The statement of a choice, made at its first use. */
  of(choice: Choice): Statement<Values, Row>;
  narrow<Known extends Narrower<Row, Known>>(): Family<Choice, Values, Narrowed<Row, Known>>;
}

export interface Planning<Choice = unknown> {
  /** The reason why the statement is planned each time. */
  readonly plannedEachTime: string;
  /** For a family: the statements that this applies to. Default: all. */
  readonly when?: (choice: Choice) => boolean;
}

/** @param name unique to this statement, and a literal: the generator looks for it */
export function statement<Name extends keyof StatementTypes>(
  name: Name,
  text: string,
  planning?: Planning,
): Statement<TypesOf<Name>['values'], TypesOf<Name>['row']> {
  const made = make(name, text, planning !== undefined);
  register(name, () => [made]);
  return made;
}

/**
 * A text holds only the requested conditions, and each such text is a statement of its own: PostgreSQL would soon plan a general one, with
 * `$after is null or …`, for every case.
 *
 * @param choices all values of each part of a choice
 */
export function statements<Name extends keyof StatementTypes, const Choices extends AnyChoices>(
  name: Name,
  choices: Choices,
  toText: (choice: ChoiceOf<Choices>) => string,
  planning?: Planning<ChoiceOf<Choices>>,
): Family<ChoiceOf<Choices>, TypesOf<Name>['values'], TypesOf<Name>['row']> {
  const parts = Object.keys(choices);
  const made = new Map<string, Statement<TypesOf<Name>['values'], TypesOf<Name>['row']>>();
  const of = (choice: ChoiceOf<Choices>) => {
    const values = choice as Readonly<Record<string, unknown>>;
    const key = [name, ...parts.map((part) => shortOf(values[part]))].join(' ');
    let found = made.get(key);
    if (found === undefined) {
      const isPlannedEachTime = planning !== undefined && (planning.when?.(choice) ?? true);
      found = make(key, toText(choice), isPlannedEachTime);
      made.set(key, found);
    }
    return found;
  };
  register(name, () => allChoices(choices).map((choice) => of(choice as ChoiceOf<Choices>)));
  const family = { of, narrow: () => family };
  return family as unknown as Family<ChoiceOf<Choices>, TypesOf<Name>['values'], TypesOf<Name>['row']>;
}

/** Parts of a choice → all values of each. */
export type AnyChoices = Readonly<Record<string, readonly (string | number | boolean | null)[]>>;

export type ChoiceOf<Choices> = {
  readonly [Part in keyof Choices]: Choices[Part] extends readonly (infer Value)[] ? Value : never;
};

/** PostgreSQL cuts names off at 63 bytes. */
const shortOf = (value: unknown): string =>
  value === null ? '-' : typeof value === 'boolean' ? String(Number(value)) : String(value);

function allChoices(choices: Readonly<Record<string, readonly unknown[]>>): Record<string, unknown>[] {
  return Object.entries(choices).reduce<Record<string, unknown>[]>(
    (found, [part, values]) =>
      found.flatMap((choice) => values.map((value) => ({ ...choice, [part]: value }))),
    [{}],
  );
}

function make<Values extends object, Row extends object>(
  name: string,
  text: string,
  isPlannedEachTime: boolean,
): Statement<Values, Row> {
  const parameters: string[] = [];
  const numbered = text.replaceAll(/\$([a-z]\w*)/gi, (_, parameter: string) => {
    if (!parameters.includes(parameter)) parameters.push(parameter);
    return `$${parameters.indexOf(parameter) + 1}`;
  });
  const made: Statement<Values, Row> = {
    name,
    text: numbered,
    parameters,
    isPlannedEachTime,
    narrow: <Known>() => made as unknown as Statement<Values, Narrowed<Row, Known>>,
  };
  return made;
}

/** For json.ts: queries that are checked, and are sent as parts of statements. */
export function registerJson<Choices extends AnyChoices>(
  name: string,
  choices: Choices,
  toText: (choice: ChoiceOf<Choices>) => string,
): void {
  register(name, () =>
    allChoices(choices).map((choice) => ({
      ...make(name, toText(choice as ChoiceOf<Choices>), false),
      isJson: true,
    })),
  );
}

const registered = new Map<string, () => readonly StatementText[]>();

function register(name: string, all: () => readonly StatementText[]): void {
  if (registered.has(name)) throw new Error(`there are two statements with the name ${name}`);
  registered.set(name, all);
}

/** For the generator: name → its statement, or all statements of the family. Contains only those of modules that were imported. */
export function allStatements(): ReadonlyMap<string, () => readonly StatementText[]> {
  return registered;
}

type Arguments<Values extends object> = keyof Values extends never ? [] : [values: Values];

/** Runs a statement; server failures become `database_unavailable`. */
export async function run<Values extends object, Row extends object>(
  executor: Executor,
  statement: Statement<Values, Row>,
  ...[values]: Arguments<Values>
): Promise<Row[]> {
  return (await send(executor, statement, values)).rows as Row[];
}

/** The number of rows that a statement without `returning` wrote. */
export async function runCounting<Values extends object>(
  executor: Executor,
  statement: Statement<Values, object>,
  ...[values]: Arguments<Values>
): Promise<number> {
  return (await send(executor, statement, values)).rowCount ?? 0;
}

async function send(executor: Executor, statement: StatementText, given: object = {}): Promise<QueryResult> {
  const { name, text, isPlannedEachTime } = statement;
  const values = valuesOf(statement, given);
  const answer = executor.query(isPlannedEachTime ? { text, values } : { name, text, values });
  const told = tracedStatements(() => [name], answer);
  const guarded = guard(statementTimes.hasSubscribers ? timed(told) : told);
  // Outside of a transaction the statement is one.
  return await (isPool(executor) && WRITES.test(text) ? guardCommit(guarded) : guarded);
}

const isPool = (executor: Executor): boolean => 'totalCount' in executor;
const WRITES = /\b(?:insert|update|delete)\b/;

/** In the order of the statement's parameters. */
function valuesOf({ name, parameters }: StatementText, given: object): unknown[] {
  const byName = given as Readonly<Record<string, unknown>>;
  return parameters.map((parameter) => {
    const value = byName[parameter];
    if (value === undefined) throw new Error(`the statement ${name} needs a value of ${parameter}`);
    return toParameter(value);
  });
}

/**
 * Text that PostgreSQL can't store would fail the statement, for a message as often as it comes. JSON is written by toStorableJson: within
 * a text, its escapes can't be told from text.
 */
function toParameter(value: unknown): unknown {
  if (typeof value === 'string') return isStorable(value) ? value : toStorable(value);
  return Array.isArray(value) ? value.map(toParameter) : value;
}

/** A statement with its values, to be sent together with others; see PlannedTransaction. */
export interface Call<Row extends object> extends GroupedQuery {
  /** For the compiler only. */
  readonly row?: Row;
}

export function call<Values extends object, Row extends object>(
  statement: Statement<Values, Row>,
  ...[values]: Arguments<Values>
): Call<Row> {
  const { name, text } = statement;
  return { name, text, values: valuesOf(statement, values ?? {}), givesRows: true };
}
