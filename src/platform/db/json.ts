/**
 * Rows within a column of a statement, as JSON. PostgreSQL checks the query behind them like a statement, but the query is sent only as a
 * part of others: so the types of JSON follow from the schema as well. In JSON, points in time and bytes are text, and a number of any size
 * is a number.
 */
import {
  registerJson,
  type AnyChoices,
  type ChoiceOf,
  type Narrowed,
  type Narrower,
  type StatementTypes,
  type TypesOf,
} from './statement.ts';

/** One object per row. */
export interface JsonObject<Row extends object> {
  /** The object, for use where the tables have the names of the query: `json_build_object(…)`. */
  readonly object: string;
  /**
   * An array of the objects, `[]` for none, as an expression.
   * @param rest the rest of the query: its conditions
   * @param order without `order by`
   */
  array(rest: string, order: string): string;
  /** The first object or null, as an expression. @param rest the rest of the query: its conditions, order and limit */
  first(rest: string): string;
  /** See Statement. */
  narrow<Known extends Narrower<Row, Known>>(): JsonObject<Narrowed<Row, Known>>;
  /** For the compiler only. */
  readonly row?: Row;
}

export interface ObjectQuery {
  /** Queries that `from` names, as `with a as (…)`; they belong to the statement, not to the expression. */
  readonly with?: string;
  /** Tables with their names; without them there is one object. */
  readonly from?: string;
  /** Keys → expressions. */
  readonly columns: Readonly<Record<string, string>>;
}

/** The result of `JSON.parse` for one object. */
export type JsonOf<Made> = Made extends { readonly row?: infer Row } ? Exclude<Row, undefined> : never;

/** @param name unique to this query, also among statements, and a literal: the generator looks for it */
export function jsonObject<Name extends keyof StatementTypes>(
  name: Name,
  query: ObjectQuery,
): JsonObject<TypesOf<Name>['row']> {
  registerJson(name, {}, () => toQuery(query));
  return toObject(query);
}

/** Objects whose tables or expressions differ; see `statements`. */
export interface JsonObjects<Choice, Row extends object> {
  of(choice: Choice): JsonObject<Row>;
  narrow<Known extends Narrower<Row, Known>>(): JsonObjects<Choice, Narrowed<Row, Known>>;
  /** For the compiler only. */
  readonly row?: Row;
}

export function jsonObjects<Name extends keyof StatementTypes, const Choices extends AnyChoices>(
  name: Name,
  choices: Choices,
  toParts: (choice: ChoiceOf<Choices>) => ObjectQuery,
): JsonObjects<ChoiceOf<Choices>, TypesOf<Name>['row']> {
  registerJson(name, choices, (choice) => toQuery(toParts(choice)));
  const made: JsonObjects<ChoiceOf<Choices>, TypesOf<Name>['row']> = {
    of: (choice) => toObject(toParts(choice)),
    narrow: <Known>() =>
      made as unknown as JsonObjects<ChoiceOf<Choices>, Narrowed<TypesOf<Name>['row'], Known>>,
  };
  return made;
}

const toQuery = ({ with: queries = '', from, columns }: ObjectQuery): string =>
  `${queries} select ${Object.entries(columns)
    .map(([key, value]) => `${value} as "${key}"`)
    .join(', ')} ${fromOf(from)}`;

const fromOf = (tables?: string): string => (tables === undefined ? '' : `from ${tables}`);

function toObject<Row extends object>({ from, columns }: ObjectQuery): JsonObject<Row> {
  const object = `json_build_object(${Object.entries(columns)
    .map(([key, value]) => `'${key}', ${value}`)
    .join(', ')})`;
  const made: JsonObject<Row> = {
    object,
    array: (rest, order) =>
      `coalesce((select json_agg(${object} order by ${order}) ${fromOf(from)} ${rest}), '[]')`,
    first: (rest) => `(select ${object} ${fromOf(from)} ${rest})`,
    narrow: <Known>() => made as unknown as JsonObject<Narrowed<Row, Known>>,
  };
  return made;
}

/** The columns of the table by their own names. */
export const columnsOf = (table: string, ...names: readonly string[]): Record<string, string> =>
  Object.fromEntries(names.map((name) => [name, `${table}.${name}`]));

/** All rows of a query, in its order. */
export interface JsonRows<Row extends object> {
  /** An array of the rows, `[]` for none, as an expression. */
  readonly array: string;
  /** See Statement. */
  narrow<Known extends Narrower<Row, Known>>(): JsonRows<Narrowed<Row, Known>>;
  /** For the compiler only. */
  readonly row?: Row;
}

/** @param name as of jsonObject */
export function jsonRows<Name extends keyof StatementTypes>(
  name: Name,
  query: string,
): JsonRows<TypesOf<Name>['row']> {
  registerJson(name, {}, () => query);
  const made: JsonRows<TypesOf<Name>['row']> = {
    array: `(select coalesce(json_agg(q), '[]') from (${query}) q)`,
    narrow: <Known>() => made as unknown as JsonRows<Narrowed<TypesOf<Name>['row'], Known>>,
  };
  return made;
}
