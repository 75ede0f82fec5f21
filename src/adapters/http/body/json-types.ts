/**
 * Checks the types in a JSON body before its schema is applied: Fastify's validation converts types, as parameters need it. It would turn 5
 * into "5", and so change the meaning of a body.
 */
import { invalidRequest } from '../../../core/errors.ts';
import { unknownName } from '../../../core/unknown-name.ts';
import { toTypeText } from './validation.ts';

/** The part of a JSON schema that small bodies use. */
export interface TypeSchema {
  readonly type?: string | readonly string[];
  readonly properties?: Readonly<Record<string, TypeSchema>>;
  readonly items?: TypeSchema;
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

function refuseOtherType(field: string, value: unknown, { type, items }: TypeSchema): void {
  const types = [type ?? []].flat();
  if (types.length > 0 && !types.includes(typeOf(value))) {
    throw invalidRequest('wrong_type', { field, type: toTypeText(types) });
  }
  if (Array.isArray(value) && items !== undefined) {
    for (const [index, item] of value.entries()) refuseOtherType(`${field}[${index}]`, item, items);
  }
}

function typeOf(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  return Number.isInteger(value) ? 'integer' : typeof value;
}
