/**
 * Checks the types in a JSON body before its schema is applied, for errors that name the field and the types it may have. The validation
 * that follows converts no types of a body either.
 */
import { invalidRequest } from '../../../core/errors.ts';
import { unknownName } from '../../../core/unknown-name.ts';
import { toTypeText } from './validation.ts';

/** The part of a JSON schema that small bodies use. */
export interface TypeSchema {
  readonly type?: string | readonly string[];
  readonly properties?: Readonly<Record<string, TypeSchema>>;
  readonly items?: TypeSchema;
  readonly anyOf?: readonly TypeSchema[];
  readonly additionalProperties?: unknown;
}

/** Throws `invalid_request` for a type that differs from the schema's, and before that `unknown_field`. */
export function refuseOtherTypes(body: unknown, { properties = {} }: TypeSchema): void {
  if (typeOf(body) !== 'object') {
    throw invalidRequest('not_an_object');
  }
  const entries = Object.entries(body as object);
  const unknown = entries.find(([field]) => !Object.hasOwn(properties, field));
  if (unknown !== undefined) throw unknownName('unknown_field', unknown[0], Object.keys(properties));
  for (const [field, value] of entries) refuseOtherType(field, value, properties[field] ?? {});
}

function refuseOtherType(field: string, value: unknown, schema: TypeSchema): void {
  const types = typesOf(schema);
  if (types.length > 0 && !types.includes(typeOf(value))) {
    throw invalidRequest('wrong_type', { field, type: toTypeText(types) });
  }
  const { items, properties = {}, additionalProperties } = formOf(value, schema);
  if (Array.isArray(value) && items !== undefined) {
    for (const [index, item] of value.entries()) refuseOtherType(`${field}[${index}]`, item, items);
  } else if (typeOf(value) === 'object') {
    const entries = Object.entries(value as object);
    const unknown = entries.find(([name]) => !Object.hasOwn(properties, name));
    if (additionalProperties === false && unknown !== undefined)
      throw unknownName('unknown_field', unknown[0], Object.keys(properties), `${field}.`);
    for (const [name, item] of entries) {
      if (Object.hasOwn(properties, name)) refuseOtherType(`${field}.${name}`, item, properties[name] ?? {});
    }
  }
}

/** Of all forms that a value may have. */
function typesOf({ type = [], anyOf = [] }: TypeSchema): readonly string[] {
  return [...new Set([...[type].flat(), ...anyOf.flatMap(typesOf)])];
}

/** The only form with the type of the value; when there are several, which one is meant is left to the validation. */
function formOf(value: unknown, schema: TypeSchema): TypeSchema {
  const [form, ...others] = (schema.anyOf ?? []).filter((one) => typesOf(one).includes(typeOf(value)));
  return form === undefined || others.length > 0 ? schema : formOf(value, form);
}

function typeOf(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  return Number.isInteger(value) ? 'integer' : typeof value;
}
