/**
 * Compiles the schema of a route at its first request. Fastify compiles all schemas before it listens: a fifth of the processor time of a
 * start, although most processes serve only a few of the routes.
 */
import { createRequire } from 'node:module';
import type { BuildCompilerFromPool } from '@fastify/ajv-compiler';
import { isBinary } from './binary-body.ts';
import type { ValidationError } from './validation.ts';

const require = createRequire(import.meta.url);

/** The function that Fastify calls for a part of a request. Returns false when the part is refused; `errors` gives the first reason. */
interface Validator {
  (data: unknown): unknown;
  errors?: unknown;
}

/** The same, which can also go on after the first error. */
export interface FullValidator extends Validator {
  /** All errors of the part. Compiled when first called: only a refused request asks for it. */
  readonly all: (data: unknown) => readonly ValidationError[];
}

interface RoutePart {
  readonly schema: Readonly<Record<string, unknown>>;
  /** `params`, `querystring`, `headers` or `body`. */
  readonly httpPart?: string;
}

type Compile = (part: RoutePart) => Validator;
/** As Fastify calls it: the published types declare a plain schema. */
type BuildCompile = (schemas: unknown, options?: { readonly customOptions?: object }) => Compile;

/** Parameters and headers are texts, and are converted to the types of their schema; JSON has types, and 5 is not "5". */
const buildCompile = (
  { isJson, allErrors }: { readonly isJson: boolean; readonly allErrors: boolean },
  ...[schemas, options]: Parameters<BuildCompile>
): Compile => {
  // Loaded here, since loading takes longer than compiling the schemas of a route.
  const createBuilder = require('@fastify/ajv-compiler') as () => BuildCompile;
  return createBuilder()(schemas, {
    ...options,
    customOptions: { ...options?.customOptions, ...(isJson ? { coerceTypes: false } : {}), allErrors },
  });
};

const buildLazyCompile: BuildCompile = (...options) => {
  const compilers = new Map<string, Compile>();
  const compilerOf = (isJson: boolean, allErrors: boolean): Compile => {
    const key = `${isJson} ${allErrors}`;
    const compile = compilers.get(key) ?? buildCompile({ isJson, allErrors }, ...options);
    compilers.set(key, compile);
    return compile;
  };
  return ({ schema, ...part }) => {
    if (part.httpPart === 'body' && isBinary(schema)) return () => true;
    const compile = (allErrors: boolean): Validator =>
      compilerOf(
        part.httpPart === 'body',
        allErrors,
      )({ ...part, schema: part.httpPart === 'headers' ? inLowerCase(schema) : schema });
    let first: Validator | null = null;
    let full: Validator | null = null;
    const validate: Validator = (data) => {
      first ??= compile(false);
      const result = first(data);
      validate.errors = first.errors;
      return result;
    };
    const all: FullValidator['all'] = (data) => {
      full ??= compile(true);
      full(data);
      return (full.errors ?? []) as readonly ValidationError[];
    };
    return Object.assign(validate, { all }) satisfies FullValidator;
  };
};

/** For Fastify's option of this name. */
export const buildValidator = buildLazyCompile as unknown as BuildCompilerFromPool;

/** Node.js gives header names in lower case. Fastify changes the schemas for its own compiler only. */
function inLowerCase({
  properties = {},
  required = [],
  ...schema
}: RoutePart['schema']): RoutePart['schema'] {
  const lower = Object.entries(properties as object).map(([name, value]) => [name.toLowerCase(), value]);
  return {
    ...schema,
    properties: Object.fromEntries(lower) as object,
    required: (required as readonly string[]).map((name) => name.toLowerCase()),
  };
}
