/** Values from a JSON schema of the OpenAPI document: valid ones, and damaged ones. */
import * as fc from 'fast-check';

/** The part of JSON Schema that our document uses; `$ref` is already resolved. */
export interface JsonSchema {
  readonly type?: string | readonly string[];
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly JsonSchema[];
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean | JsonSchema;
  readonly items?: JsonSchema;
  readonly minItems?: number;
  readonly format?: string;
  readonly pattern?: string;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
}

/** Values that the schema allows. `samples` gives meaningful ones, by the name of the field. */
export function arbitraryOf(
  schema: JsonSchema,
  samples: Readonly<Record<string, readonly unknown[]>> = {},
): fc.Arbitrary<unknown> {
  if (schema.const !== undefined) return fc.constant(schema.const);
  if (schema.enum !== undefined) return fc.constantFrom(...schema.enum);
  if (schema.properties !== undefined) return objectOf(schema, samples);
  if (schema.anyOf !== undefined) return fc.oneof(...schema.anyOf.map((one) => arbitraryOf(one, samples)));
  return fc.oneof(...[schema.type ?? 'string'].flat().map((type) => typed(type, schema, samples)));
}

function objectOf(
  schema: JsonSchema,
  samples: Readonly<Record<string, readonly unknown[]>>,
): fc.Arbitrary<Record<string, unknown>> {
  const fields = (properties: JsonSchema['properties'] = {}): Record<string, fc.Arbitrary<unknown>> =>
    Object.fromEntries(
      Object.entries(properties).map(([name, property]) => {
        const any = arbitraryOf(property, samples);
        const known = samples[name];
        return [name, known === undefined ? any : fc.oneof(any, fc.constantFrom(...known))];
      }),
    );
  const whole = fc.record(fields(schema.properties), { requiredKeys: [...(schema.required ?? [])] });
  if (schema.anyOf === undefined) return whole;
  // An object that must also match one of several descriptions.
  const branches = schema.anyOf.map((branch) => fc.record(fields(branch.properties)));
  return fc.tuple(whole, fc.oneof(...branches)).map(([base, branch]) => ({ ...base, ...branch }));
}

function typed(
  type: string,
  schema: JsonSchema,
  samples: Readonly<Record<string, readonly unknown[]>>,
): fc.Arbitrary<unknown> {
  switch (type) {
    case 'null':
      return fc.constant(null);
    case 'boolean':
      return fc.boolean();
    case 'integer':
      return fc.integer({ min: schema.minimum ?? -1_000_000, max: schema.maximum ?? 1_000_000 });
    case 'array':
      return fc.array(arbitraryOf(schema.items ?? {}, samples), {
        minLength: schema.minItems ?? 0,
        maxLength: 3,
      });
    case 'object':
      return fc.dictionary(fc.string({ maxLength: 5 }), fc.string({ maxLength: 5 }), { maxKeys: 2 });
    default:
      return text(schema);
  }
}

function text(schema: JsonSchema): fc.Arbitrary<string> {
  if (schema.format === 'uuid') return fc.uuid();
  if (schema.format === 'date-time') {
    return fc
      .date({ min: new Date('1970-01-01'), max: new Date('2100-01-01'), noInvalidDate: true })
      .map((date) => date.toISOString());
  }
  if (schema.format === 'byte') {
    return fc.uint8Array({ maxLength: 50 }).map((bytes) => Buffer.from(bytes).toString('base64'));
  }
  const any = fc.string({
    unit: 'grapheme',
    minLength: schema.minLength ?? 0,
    maxLength: Math.min(schema.maxLength ?? 30, 30),
  });
  if (schema.pattern === undefined) return any;
  const pattern = new RegExp(schema.pattern, 'u');
  const odd = any.map((value) => `x${value}`);
  // A filter that nothing passes would search for ever.
  const passed = fc.sample(odd, { numRuns: 40, seed: 1 }).filter((value) => pattern.test(value));
  return passed.length >= 10 ? odd.filter((value) => pattern.test(value)) : fc.stringMatching(pattern);
}

/** Values that no field expects. */
const ODD_VALUES: readonly unknown[] = [
  null,
  '',
  ' ',
  0,
  -1,
  1.5,
  1e308,
  true,
  [],
  {},
  [[[[]]]],
  [null],
  'x'.repeat(5000),
  '\u0000',
  'a\r\nBcc: evil@example.com',
  '\ud800',
  "' OR 1=1 --",
  '%00%zz',
  '../../etc/passwd',
  '00000000-0000-0000-0000-000000000000',
];

/** JSON text of `values` with up to three things changed: a field, the set of fields, or the text itself. */
export function arbitraryDamage(values: fc.Arbitrary<unknown>): fc.Arbitrary<string> {
  const change = fc.record({
    kind: fc.constantFrom('replace', 'remove', 'add', 'cut', 'insert'),
    at: fc.nat(),
    value: fc.oneof(fc.constantFrom(...ODD_VALUES), fc.jsonValue({ maxDepth: 2 })),
    name: fc.oneof(fc.constantFrom('__proto__', 'constructor', 'To', 'content', ''), fc.string()),
  });
  return fc.tuple(values, fc.array(change, { minLength: 1, maxLength: 3 })).map(([value, changes]) => {
    let changed: unknown = structuredClone(value);
    for (const { kind, at, value: shared, name } of changes) {
      // A later change may modify it.
      const odd: unknown = structuredClone(shared);
      const places = placesOf(changed);
      const place = places[at % Math.max(places.length, 1)];
      if (kind === 'replace' && place === undefined) changed = odd;
      if (place === undefined) continue;
      if (kind === 'replace') define(place.holder, place.key, odd);
      if (kind === 'remove') Reflect.deleteProperty(place.holder, place.key);
      if (kind === 'add') define(place.holder, Array.isArray(place.holder) ? place.holder.length : name, odd);
    }
    let text = JSON.stringify(changed) ?? '';
    for (const { kind, at, name } of changes) {
      const position = at % (text.length + 1);
      if (kind === 'cut') text = text.slice(0, position);
      if (kind === 'insert') text = text.slice(0, position) + name + text.slice(position);
    }
    return text;
  });
}

interface Place {
  readonly holder: object;
  readonly key: string;
}

/** Every field of every object and array inside. */
function placesOf(value: unknown): readonly Place[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) => [{ holder: value, key }, ...placesOf(inner)]);
}

/** Sets `__proto__` as a field, too. */
function define(holder: object, key: string | number, value: unknown): void {
  Object.defineProperty(holder, key, { value, writable: true, enumerable: true, configurable: true });
}
