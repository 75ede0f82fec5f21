/**
 * Variables of the environment. Each is declared once, with how it is read and checked; `--help` and docs/configuration.md are
 * made from the same declaration.
 */
import path from 'node:path';
import { ConfigError } from './config-error.ts';

/** What the variables are read from. */
export interface Environment {
  /** The trimmed value; an empty variable counts as absent: null. */
  get(name: string): string | null;
  readonly values: Readonly<Record<string, string | undefined>>;
  /** Relative paths begin here. */
  readonly cwd: string;
}

export interface Variable<T = unknown> {
  readonly name: string;
  /** How the default reads in the table. */
  readonly defaultText: string;
  /** One or two sentences; units included. */
  readonly meaning: string;
  /** Throws ConfigError. */
  read(env: Environment): T;
}

interface Declaration<T> {
  /** Null when the variable is absent. Throws ConfigError. */
  readonly parse: (text: string | null, name: string, env: Environment) => T;
  readonly defaultText: string;
  readonly meaning: string;
}

export function variable<T>(name: string, { parse, ...texts }: Declaration<T>): Variable<T> {
  return { name, ...texts, read: (env) => parse(env.get(name), name, env) };
}

/** A value that is a word. Default: none. */
export const text = (name: string, meaning: string, defaultText = 'none'): Variable<string | null> =>
  variable(name, { parse: (value) => value, defaultText, meaning });

interface Bounds {
  readonly min: number;
  readonly max: number;
}

/** A whole number; `defaultText` when the default is not the same everywhere. */
export function integer(
  name: string,
  fallback: number,
  { min, max }: Bounds,
  meaning: string,
  defaultText = String(fallback),
): Variable<number> {
  const parse = (value: string | null) => {
    if (value === null) return fallback;
    const number = /^\d{1,15}$/.test(value) ? Number(value) : NaN;
    if (!(number >= min && number <= max))
      throw new ConfigError(name, `must be a whole number from ${min} to ${max}`);
    return number;
  };
  return variable(name, { parse, defaultText, meaning });
}

const DAY_MS = 86_400_000;

/** A duration of a millisecond to a day. */
export const milliseconds = (name: string, fallback: number, meaning: string): Variable<number> =>
  integer(name, fallback, { min: 1, max: DAY_MS }, meaning);

/** A path, which `cwd` makes absolute. */
export const resolvePath = ({ cwd }: Environment, file: string): string => path.resolve(cwd, file);

type Variables = Readonly<Record<string, Variable>>;
type ValuesOf<V extends Variables> = {
  readonly [Key in keyof V]: V[Key] extends Variable<infer T> ? T : never;
};

/** The values of all of them, under the names that the program gives them. */
export function readAll<V extends Variables>(variables: V, env: Environment): ValuesOf<V> {
  return Object.fromEntries(
    Object.entries(variables).map(([key, one]) => [key, one.read(env)]),
  ) as ValuesOf<V>;
}
