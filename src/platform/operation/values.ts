/**
 * What a JSON schema describes, as the code sees it: names in camelCase, a `date-time` as a Date, a UUID in lower case. Converts between
 * that and the JSON of the API by the schema alone, so that no field is renamed by hand and none leaves that the schema does not name.
 */
import { toMoment } from '../schemas/schemas.ts';

export interface Schema {
  readonly type?: unknown;
  readonly format?: unknown;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly default?: unknown;
  readonly items?: unknown;
  readonly anyOf?: readonly unknown[];
  readonly required?: readonly string[];
  readonly properties?: Properties;
}

export type Properties = Readonly<Record<string, unknown>>;

export type Camel<Name> = Name extends `${infer Head}_${infer Tail}`
  ? `${Head}${Capitalize<Camel<Tail> & string>}`
  : Name;

type OfType<Type, S> = Type extends 'string'
  ? S extends { readonly format: 'date-time' }
    ? Date
    : string
  : Type extends 'integer' | 'number'
    ? number
    : Type extends 'boolean'
      ? boolean
      : Type extends 'null'
        ? null
        : Type extends 'array'
          ? S extends { readonly items: infer Item }
            ? readonly Value<Item>[]
            : readonly unknown[]
          : OfObject<S>;

type OfObject<S> = S extends { readonly properties: infer P }
  ? Fields<P, S extends { readonly required: readonly (infer Name)[] } ? Name : never>
  : S extends { readonly additionalProperties: { readonly type: infer T } }
    ? Readonly<Record<string, OfType<T, S>>>
    : Readonly<Record<string, unknown>>;

/** Properties that are required, or have a default, are always there. */
type Fields<P, Required> = {
  readonly [Name in keyof P as IsThere<P[Name], Name, Required> extends true ? Camel<Name> : never]: Value<
    P[Name]
  >;
} & {
  readonly [Name in keyof P as IsThere<P[Name], Name, Required> extends true ? never : Camel<Name>]?: Value<
    P[Name]
  >;
};

type IsThere<S, Name, Required> = Name extends Required
  ? true
  : S extends { readonly default: unknown }
    ? true
    : false;

/** The value that a schema describes. */
export type Value<S> = S extends { readonly enum: readonly (infer Entry)[] }
  ? Entry
  : S extends { readonly const: infer Only }
    ? Only
    : S extends { readonly anyOf: readonly (infer Form)[] }
      ? Value<Form>
      : S extends { readonly type: readonly (infer Type)[] }
        ? OfType<Type, S>
        : S extends { readonly type: infer Type }
          ? OfType<Type, S>
          : unknown;

/** The value of some properties, of which these are required. */
export type ValueOf<P, Required = never> = [P] extends [undefined] ? unknown : Fields<P, Required>;

export type Convert = (value: unknown) => unknown;

const asIs: Convert = (value) => value;

export const camelCase = (name: string): string =>
  name.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());

const unlessNull =
  (convert: Convert): Convert =>
  (value) =>
    value === null ? null : convert(value);

/** Converts by the form that has the JSON type of the value. Throws TypeError for forms that can't be told apart so. */
function byForm(forms: readonly unknown[], convertOf: (form: Schema) => Convert): Convert {
  const converts = new Map<string, Convert>();
  for (const form of forms as readonly Schema[]) {
    for (const type of [form.type].flat() as string[]) {
      const known = converts.get(type);
      const convert = convertOf(form);
      if (known !== undefined && (known !== asIs || convert !== asIs))
        throw new TypeError(`two forms of a value are of the type ${type}`);
      converts.set(type, convert);
    }
  }
  if ([...converts.values()].every((convert) => convert === asIs)) return asIs;
  return (value) => (converts.get(typeOf(value)) ?? asIs)(value);
}

function typeOf(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  return value instanceof Date ? 'string' : typeof value;
}

const hasType = ({ type }: Schema, name: string): boolean => [type].flat().includes(name);

/** Returns the function that makes the JSON of a value. Throws TypeError for forms that it can't tell apart. */
export function toJson(given: unknown): Convert {
  const schema = given as Schema;
  if (schema.anyOf !== undefined) return byForm(schema.anyOf, toJson);
  if (hasType(schema, 'array')) {
    const item = toJson(schema.items ?? {});
    return item === asIs ? asIs : unlessNull((value) => (value as readonly unknown[]).map(item));
  }
  if (schema.properties !== undefined) return unlessNull(toObject(schema.properties));
  if (schema.format === 'date-time') return unlessNull((value) => (value as Date).toISOString());
  return asIs;
}

function toObject(properties: Properties): Convert {
  const fields = Object.entries(properties).map(
    ([name, schema]) => [name, camelCase(name), toJson(schema)] as const,
  );
  return (value) => {
    const json: Record<string, unknown> = {};
    for (const [name, key, convert] of fields) {
      const own = (value as Readonly<Record<string, unknown>>)[key];
      if (own !== undefined) json[name] = convert === asIs ? own : convert(own);
    }
    return json;
  };
}

/**
 * Returns the function that reads properties which were checked against their schemas, with the defaults of those that are absent. It
 * throws `invalid_request` for a moment that does not exist.
 */
export function fromJson(properties: Properties): (json: Readonly<Record<string, unknown>>) => Properties {
  const fields = Object.entries(properties).map(
    ([name, schema]) =>
      [name, camelCase(name), reader(name, schema as Schema), (schema as Schema).default] as const,
  );
  return (json) => {
    const value: Record<string, unknown> = {};
    for (const [name, key, read, absent] of fields) {
      const own = json[name];
      if (own !== undefined) value[key] = read(own);
      else if (absent !== undefined) value[key] = absent;
    }
    return value;
  };
}

function reader(name: string, schema: Schema): Convert {
  if (schema.anyOf !== undefined) return byForm(schema.anyOf, (form) => reader(name, form));
  if (hasType(schema, 'array')) {
    const item = reader(name, (schema.items ?? {}) as Schema);
    return item === asIs ? asIs : unlessNull((value) => (value as readonly unknown[]).map(item));
  }
  if (schema.properties !== undefined) {
    const read = fromJson(schema.properties);
    return unlessNull((value) => read(value as Readonly<Record<string, unknown>>));
  }
  if (schema.format === 'uuid') return unlessNull((value) => (value as string).toLowerCase());
  if (schema.format === 'date-time') return unlessNull((value) => toMoment(name, value as string));
  return asIs;
}
