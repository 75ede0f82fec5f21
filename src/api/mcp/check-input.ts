/** Checks the arguments of a tool call. Nothing is coerced and nothing is dropped: what a tool does not take, it refuses by name. */
import { z } from 'zod';
import { typeText as textOf, type Words } from '../../core/error-words.ts';
import { invalidRequest, ServiceError } from '../../core/errors.ts';
import { withOtherMistakes } from '../../core/mistakes.ts';
import { findUnstorable } from '../../core/storable-text.ts';
import { closeNames } from './close-names.ts';

type Schema = z.ZodObject<z.ZodRawShape, z.core.$strict>;
type Json = Readonly<Record<string, unknown>>;

/** The arguments of a call are not what the tool takes. */
export class InputFault extends Error {
  readonly fault: ServiceError;
  /** Names of arguments that may have been meant; empty when none is close, or the name is right. */
  readonly closeNames: readonly string[];
  /** All names that may stand in the place of the unknown one; empty when the name is right. */
  readonly knownNames: readonly string[];

  constructor(fault: ServiceError, known: readonly string[] = [], close: readonly string[] = []) {
    super(fault.text);
    this.fault = fault;
    this.knownNames = known;
    this.closeNames = close;
  }
}

/** Throws `InputFault` for the first fault, which lists the others. */
export function checkInput<S extends Schema>(schema: S, input: unknown): z.infer<S> {
  const field = findUnstorable(input);
  if (field !== null)
    throw new InputFault(new ServiceError('invalid_text', { values: { field: field || 'arguments' } }));
  const parsed = schema.safeParse(input);
  if (!parsed.success) {
    const { issues } = parsed.error;
    const first = toFault(issues, schema, input);
    withOtherMistakes(first.fault, ({ note }) => {
      for (const issue of issues) for (const fault of toServiceErrors(issue, input)) note(fault);
    });
    throw first;
  }
  const lost = findPrototypeKey(input, []);
  // The parser copies no such key, whose value would be dropped.
  if (lost !== null) throw unknownField(lost, schema);
  return parsed.data;
}

function toFault(issues: readonly z.core.$ZodIssue[], schema: Schema, input: unknown): InputFault {
  // A wrong name explains a missing one.
  const issue = issues.find(({ code }) => code === 'unrecognized_keys') ?? issues[0];
  if (issue?.code === 'unrecognized_keys') return unknownField([...issue.path, issue.keys[0] ?? ''], schema);
  return new InputFault(toServiceError(issue, input));
}

function unknownField(path: readonly PropertyKey[], schema: Schema): InputFault {
  const known = namesAt(schema, path.slice(0, -1));
  return new InputFault(toUnknown(path), known, closeNames(String(path.at(-1)), known));
}

const toUnknown = (path: readonly PropertyKey[]): ServiceError =>
  new ServiceError('unknown_field', { values: { field: formatPath(path) } });

const toServiceErrors = (issue: z.core.$ZodIssue, input: unknown): readonly ServiceError[] =>
  issue.code === 'unrecognized_keys'
    ? issue.keys.map((key) => toUnknown([...issue.path, key]))
    : [toServiceError(issue, input)];

interface JsonSchema {
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly items?: JsonSchema;
  /** Of a field that may be null. */
  readonly anyOf?: readonly JsonSchema[];
}

/** The fields of the object at a path within the schema. */
function namesAt(schema: Schema, path: readonly PropertyKey[]): readonly string[] {
  const fieldsOf = (at: JsonSchema | undefined) => at?.properties ?? at?.anyOf?.[0]?.properties ?? {};
  const at = path.reduce<JsonSchema | undefined>(
    (outer, name) => outer?.items ?? fieldsOf(outer)[String(name)],
    z.toJSONSchema(schema, { io: 'input' }) as JsonSchema,
  );
  return Object.keys(fieldsOf(at));
}

/** JSON.parse makes `__proto__` an own key. */
function findPrototypeKey(value: unknown, path: readonly PropertyKey[]): readonly PropertyKey[] | null {
  if (value === null || typeof value !== 'object') return null;
  for (const [name, item] of Object.entries(value)) {
    const at = [...path, Array.isArray(value) ? Number(name) : name];
    const found = name === '__proto__' ? at : findPrototypeKey(item, at);
    if (found !== null) return found;
  }
  return null;
}

function toServiceError(issue: z.core.$ZodIssue | undefined, input: unknown): ServiceError {
  const field = formatPath(issue?.path ?? []) || 'arguments';
  switch (issue?.code) {
    case 'invalid_type':
      return valueAt(input, issue.path) === undefined
        ? invalidRequest('missing', { field })
        : invalidRequest('wrong_type', { field, type: typeText(issue.expected) });
    case 'too_small': {
      const limit = Number(issue.minimum);
      if (issue.origin === 'string') return invalidRequest('empty', { field });
      return invalidRequest(issue.origin === 'array' ? 'too_few_entries' : 'too_small', { field, limit });
    }
    case 'too_big': {
      const limit = Number(issue.maximum);
      if (issue.origin === 'string') return invalidRequest('too_long', { field, limit });
      return invalidRequest(issue.origin === 'array' ? 'too_many_entries' : 'too_large', { field, limit });
    }
    case 'invalid_value':
      return invalidRequest('not_one_of', { field, values: issue.values.map(String).join(', ') });
    case 'invalid_format':
      if (issue.format === 'guid') return new ServiceError('invalid_uuid', { values: { field } });
      return invalidRequest(issue.format === 'datetime' ? 'not_a_moment' : 'malformed', { field });
    default:
      return invalidRequest('malformed', { field });
  }
}

const TYPES: Readonly<Record<string, string>> = { int: 'integer', number: 'integer', record: 'object' };
const typeText = (expected: string): Words => textOf(TYPES[expected] ?? expected);

const valueAt = (input: unknown, path: readonly PropertyKey[]): unknown =>
  path.reduce<unknown>(
    (value, name) =>
      value !== null && typeof value === 'object' ? (value as Json)[String(name)] : undefined,
    input,
  );

/** As the API writes it: `attachments[0].filename`. */
const formatPath = (path: readonly PropertyKey[]): string =>
  path.reduce<string>(
    (text, name) =>
      typeof name === 'number' ? `${text}[${name}]` : text === '' ? String(name) : `${text}.${String(name)}`,
    '',
  );
