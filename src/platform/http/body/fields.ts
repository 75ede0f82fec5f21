/**
 * Reads fields of a JSON body in code, since no schema reports mistakes in a fixed order: each function throws the ServiceError of one
 * mistake, and names the field by its path. Those with a parameter `note` pass it each of theirs; by default it throws the first.
 */
import { typeText } from '../../../core/error-words.ts';
import { invalidRequest, ServiceError } from '../../../core/errors.ts';
import { refuse } from '../../../core/mistakes.ts';
import { unknownName } from '../../../core/unknown-name.ts';
import { UUID_PATTERN } from '../../schemas/schemas.ts';

const UUID = new RegExp(UUID_PATTERN);

export type Fields = Readonly<Record<string, unknown>>;

/** Own fields only, `__proto__` included: JSON.parse makes it an own field, and it is unknown like any other. */
export function toFields(value: unknown): Fields | null {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return null;
  const fields = Object.create(null) as Record<string, unknown>;
  for (const [field, one] of Object.entries(value)) fields[field] = one;
  return fields;
}

export function refuseUnknown(fields: Fields, known: ReadonlySet<string>, path: string, note = refuse): void {
  for (const field of Object.keys(fields)) {
    if (!known.has(field)) note(unknownName('unknown_field', field, known, path));
  }
}

/** Fields that have an effect only beside `other`; given without it they are refused. null is the same as a missing field. */
export function refuseWithout(body: Fields, fields: readonly string[], other: string, note = refuse): void {
  if ((body[other] ?? null) !== null) return;
  for (const field of fields) {
    if ((body[field] ?? null) !== null) note(invalidRequest('only_with', { field, other }));
  }
}

export function readText(body: Fields, field: string, path = field): string | null {
  const value = body[field] ?? null;
  if (value !== null && typeof value !== 'string') throw wrongType(path, 'string');
  return value;
}

export function readUuid(body: Fields, field: string, path = field): string | null {
  const text = readText(body, field, path);
  if (text !== null && !UUID.test(text)) throw new ServiceError('invalid_uuid', { values: { field: path } });
  return text === null ? null : text.toLowerCase();
}

/** JSON.stringify can't write `1e400` and `-0`: they would be stored as null and 0. */
export function refuseLostNumbers(value: unknown, field: string): void {
  // limits.ts bounds nesting, and here it costs no stack.
  const rest: unknown[] = [value];
  for (let one = rest.pop(); one !== undefined; one = rest.pop()) {
    if (typeof one === 'number' && (!Number.isFinite(one) || Object.is(one, -0))) {
      throw invalidRequest('lost_number', { field });
    }
    if (typeof one === 'object' && one !== null) for (const inner of Object.values(one)) rest.push(inner);
  }
}

/** True for values that can't be a recipient or a subject: absent, null, white space, or a list of these. */
export function isBlank(value: unknown): boolean {
  if (Array.isArray(value)) return value.every(isBlank);
  return value === undefined || value === null || (typeof value === 'string' && value.trim() === '');
}

export function wrongType(field: string, type: string): ServiceError {
  return invalidRequest('wrong_type', { field, type: typeText(type) });
}
