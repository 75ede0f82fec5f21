/**
 * Environment variables. Each is declared once, including how it is read and checked; `--help` and docs/configuration.md are made from the
 * same declaration.
 */
import path from 'node:path';
import { DAY_MS } from '../core/durations.ts';
import { ConfigError } from './config-error.ts';

/** The source of the variables. */
export interface Environment {
  /** The trimmed value; null: absent or empty. */
  get(name: string): string | null;
  /** The same for a variable with a secret, which may be in the file that `NAME_FILE` names. Throws ConfigError. */
  secret(name: string): string | null;
  /** The base of relative paths. */
  readonly cwd: string;
}

export interface Variable<T = unknown> {
  readonly name: string;
  /** The default as the table shows it. */
  readonly defaultText: string;
  /** One or two sentences, including units. */
  readonly meaning: string;
  /** The value is a secret, so `NAME_FILE` may name a file that contains it; see secret-file.ts. */
  readonly mayBeInFile: boolean;
  /** Throws ConfigError. */
  read(env: Environment): T;
}

/** The name of the variable that names the file with the value. */
export const fileVariableOf = (name: string): string => `${name}_FILE`;

interface Declaration<T> {
  /** The text is null when the variable is absent. Throws ConfigError. */
  readonly parse: (text: string | null, name: string, env: Environment) => T;
  readonly defaultText: string;
  readonly meaning: string;
}

export function variable<T>(name: string, { parse, ...texts }: Declaration<T>): Variable<T> {
  return { name, ...texts, mayBeInFile: false, read: (env) => parse(env.get(name), name, env) };
}

/** A variable whose value is a secret. */
export function secretVariable<T>(name: string, { parse, ...texts }: Declaration<T>): Variable<T> {
  return { name, ...texts, mayBeInFile: true, read: (env) => parse(env.secret(name), name, env) };
}

/** A secret that is a word. Default: none. */
export const secretText = (name: string, meaning: string): Variable<string | null> =>
  secretVariable(name, { parse: (value) => value, defaultText: 'none', meaning });

/** A value that is a word. Default: none. */
export const text = (name: string, meaning: string, defaultText = 'none'): Variable<string | null> =>
  variable(name, { parse: (value) => value, defaultText, meaning });

interface Bounds {
  readonly min: number;
  readonly max: number;
}

/** A whole number; `defaultText` for a default that is not the same everywhere. */
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

/** A duration from a millisecond to a day. */
export const milliseconds = (name: string, fallback: number, meaning: string): Variable<number> =>
  integer(name, fallback, { min: 1, max: DAY_MS }, meaning);

/** A path, made absolute from `cwd`. */
export const resolvePath = ({ cwd }: Environment, file: string): string => path.resolve(cwd, file);

type Variables = Readonly<Record<string, Variable>>;
type ValuesOf<V extends Variables> = {
  readonly [Key in keyof V]: V[Key] extends Variable<infer T> ? T : never;
};

/** The values of all variables, under the names that the program uses. */
export function readAll<V extends Variables>(variables: V, env: Environment): ValuesOf<V> {
  return Object.fromEntries(
    Object.entries(variables).map(([key, one]) => [key, one.read(env)]),
  ) as ValuesOf<V>;
}
