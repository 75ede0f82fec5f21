/**
 * Checks the types in a JSON body before its schema is applied, for errors that name the field and the types it may have. The validation
 * that follows converts no types of a body either.
 */
import { invalidRequest } from '../../../core/errors.ts';
import { refuse, type NoteMistake } from '../../../core/mistakes.ts';
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

/** Mistakes are `invalid_request` for a type that differs from the schema's, and before that `unknown_field`. */
export function refuseOtherTypes(body: unknown, { properties = {} }: TypeSchema, note = refuse): void {
  if (typeOf(body) !== 'object') {
    throw invalidRequest('not_an_object');
  }
  refuseOtherFields(body as object, properties, '', note);
}

/** @param isOpen fields that are not listed may have any name and value */
function refuseOtherFields(
  object: object,
  properties: Readonly<Record<string, TypeSchema>>,
  path: string,
  note: NoteMistake,
  isOpen = false,
): void {
  const entries = Object.entries(object);
  for (const [name] of isOpen ? [] : entries) {
    if (!Object.hasOwn(properties, name))
      note(unknownName('unknown_field', name, Object.keys(properties), path));
  }
  for (const [name, value] of entries) {
    if (Object.hasOwn(properties, name)) refuseOtherType(path + name, value, properties[name] ?? {}, note);
  }
}

function refuseOtherType(field: string, value: unknown, schema: TypeSchema, note: NoteMistake): void {
  const types = typesOf(schema);
  if (types.length > 0 && !types.includes(typeOf(value))) {
    note(invalidRequest('wrong_type', { field, type: toTypeText(types) }));
    return;
  }
  const { items, properties = {}, additionalProperties } = formOf(value, schema);
  if (Array.isArray(value) && items !== undefined) {
    for (const [index, item] of value.entries()) refuseOtherType(`${field}[${index}]`, item, items, note);
  } else if (typeOf(value) === 'object') {
    refuseOtherFields(value as object, properties, `${field}.`, note, additionalProperties !== false);
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
