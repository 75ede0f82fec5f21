/**
 * Fills in templates. They are Liquid, rendered by LiquidJS, which is used only in this file. It reads no files and nothing
 * of this machine: tags that name other templates are removed, and only the given properties of variables are visible,
 * never those that JavaScript adds to objects.
 *
 * Values are escaped in HTML, and nowhere else. The value of a variable is never read as Liquid.
 */
import {
  Context,
  defaultOperators,
  filters,
  Liquid,
  LiquidError,
  Token,
  toValueSync,
  type Emitter,
  type LiquidOptions,
  type Template,
} from 'liquidjs';
import { MAX_FILLED_CHARS, MAX_STEPS, MAX_TEMPLATE_BODY_CHARS, MAX_WORKED } from './limits.ts';
import { LinePositions } from './line-positions.ts';
import type {
  CheckedTemplate,
  FilledTemplate,
  TemplateContent,
  TemplateFault,
  TemplateField,
} from './template.ts';
import { TooMuch, WalkedValues } from './walked-values.ts';

/** Tags that load other templates. */
const TAKEN_OUT = ['include', 'render', 'layout', 'block'];

const OPTIONS: LiquidOptions = {
  operators: countOperators(),
  strictVariables: true,
  strictFilters: true,
  // A condition, and the filter `default`, may use a missing variable.
  lenientIf: true,
  ownPropertyOnly: true,
  // Replaces the file system.
  templates: {},
  parseLimit: MAX_TEMPLATE_BODY_CHARS,
  memoryLimit: MAX_WORKED,
};

// LiquidJS counts the lines before each token from the start: 20,000 variables of 140 kB took 5 s to list.
const positions = new LinePositions();
Token.prototype.getPosition = function () {
  return positions.find(this.input, this.begin);
};

/** Of the field that is being filled in; rendering never waits, so there is only one. */
let walked = new WalkedValues();

// Its result may be a list: BoundedEmitter writes it out.
const escapeNothing = (value: unknown) => {
  walked.count(value);
  return value as string;
};
const PLAIN = createEngine({ ...OPTIONS, outputEscape: escapeNothing });
const HTML = createEngine({
  ...OPTIONS,
  outputEscape(value: unknown) {
    walked.count(value);
    return handlerOf('escape').call(this, value) as string;
  },
});
// Their result is already HTML and must not be escaped again.
for (const name of ['escape', 'escape_once', 'xml_escape'] as const) {
  HTML.registerFilter(name, { raw: true, handler: handlerOf(name) });
}
HTML.registerFilter('newline_to_br', {
  raw: true,
  handler(value: unknown) {
    return handlerOf('newline_to_br').call(this, handlerOf('escape').call(this, value));
  },
});
for (const engine of [PLAIN, HTML]) countFilters(engine);

/** Carries the fault of a template as an exception to the functions that return it. */
class Fault extends Error {
  readonly fault: TemplateFault;

  constructor(fault: TemplateFault) {
    super(fault.kind);
    this.fault = fault;
  }
}

/** Checks that every field is Liquid, and lists the variables that they need. */
export function checkTemplate(content: TemplateContent): CheckedTemplate {
  return unlessFaulty(() => {
    const names = fieldsOf(content).flatMap(({ field, source, engine }) =>
      attempt(field, source, () => engine.globalFullVariablesSync(engine.parse(source))),
    );
    return { kind: 'valid', variables: [...new Set(names)] };
  });
}

/** @param variables a JSON object */
export function fillTemplate(content: TemplateContent, variables: string): FilledTemplate {
  return unlessFaulty(() => {
    const filled = new Map(
      fieldsOf(content).map(({ field, source, engine }) => [
        field,
        attempt(field, source, () => fill(engine, engine.parse(source), variables)),
      ]),
    );
    const subject = filled.get('subject') ?? '';
    if (subject.trim() === '') throw new Fault({ kind: 'empty', field: 'subject' });
    const textBody = filled.get('text_body') || null;
    const htmlBody = filled.get('html_body') || null;
    if (textBody === null && htmlBody === null) {
      throw new Fault({ kind: 'empty', field: content.textBody === null ? 'html_body' : 'text_body' });
    }
    return { kind: 'filled', content: { subject, textBody, htmlBody } };
  });
}

function createEngine(options: LiquidOptions): Liquid {
  const engine = new Liquid(options);
  for (const tag of TAKEN_OUT) delete engine.tags[tag];
  return engine;
}

/** LiquidJS's own bounds count the entries of a list, and nothing in them. */
function countFilters(engine: Liquid): void {
  for (const [name, filter] of Object.entries(engine.filters)) {
    const { handler, raw } = typeof filter === 'function' ? { handler: filter, raw: false } : filter;
    engine.registerFilter(name, {
      raw,
      *handler(...given: unknown[]): Generator<unknown, unknown, unknown> {
        for (const value of given) walked.count(value);
        return yield (handler as Filtering).apply(this, given);
      },
    });
  }
}

type Operators = NonNullable<LiquidOptions['operators']>;
type Filtering = (this: unknown, ...given: unknown[]) => unknown;

/** Comparisons walk through lists, and through texts. */
function countOperators(): Operators {
  const counted = Object.entries(defaultOperators).map(([name, operator]) => [
    name,
    function* (left: unknown, right: unknown, context: unknown): Generator<unknown, unknown, unknown> {
      walked.count(left);
      // Of `not` it is the context.
      if (!(right instanceof Context)) walked.count(right);
      return yield (operator as Filtering)(left, right, context);
    },
  ]);
  return Object.fromEntries(counted) as unknown as Operators;
}

type Escaping = (this: unknown, value: unknown) => unknown;

function handlerOf(name: string): Escaping {
  const filter = filters[name];
  const handler = typeof filter === 'object' ? filter.handler : filter;
  if (handler === undefined) throw new Error(`LiquidJS has no filter ${name}`);
  return handler as Escaping;
}

function fieldsOf({ subject, textBody, htmlBody }: TemplateContent) {
  const all: { field: TemplateField; source: string | null; engine: Liquid }[] = [
    { field: 'subject', source: subject, engine: PLAIN },
    { field: 'text_body', source: textBody, engine: PLAIN },
    { field: 'html_body', source: htmlBody, engine: HTML },
  ];
  return all.flatMap(({ source, ...one }) => (source === null ? [] : { ...one, source }));
}

function fill(engine: Liquid, template: Template[], variables: string): string {
  walked = new WalkedValues();
  const emitter = new BoundedEmitter();
  // Parsed again for each field: a filter may change its input.
  const scope = JSON.parse(variables) as object;
  const context = new Context(
    scope,
    engine.options,
    { sync: true },
    { renderLimit: countSteps(), liquid: engine },
  );
  toValueSync(engine.renderer.renderTemplates(template, context, emitter));
  return emitter.buffer;
}

/** LiquidJS calls it before each step. Replaces its own, which reads the clock: a busy machine is not a template's fault. */
function countSteps(): Context['renderLimit'] {
  let steps = 0;
  const limiter = {
    use: () => undefined,
    check: () => {
      if (++steps > MAX_STEPS) throw new TooMuch();
    },
  };
  return limiter as unknown as Context['renderLimit'];
}

class BoundedEmitter implements Emitter {
  buffer = '';

  write(value: unknown): void {
    const text = toText(value);
    if (this.buffer.length + text.length > MAX_FILLED_CHARS) throw new TooMuch();
    this.buffer += text;
  }
}

/** Formats a value as LiquidJS does. */
function toText(value: unknown): string {
  if (typeof value === 'string') return value;
  if (value === undefined || value === null) return '';
  return Array.isArray(value) ? value.map(toText).join('') : String(value);
}

/** Throws errors of LiquidJS, and of our bounds, as a Fault of this field. */
function attempt<T>(field: TemplateField, source: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw new Fault(toFault(field, source, error));
  }
}

function unlessFaulty<T>(work: () => T): T | TemplateFault {
  try {
    return work();
  } catch (error) {
    if (error instanceof Fault) return error.fault;
    throw error;
  }
}

/** LiquidJS's message when one of its bounds is exceeded. */
const LIMIT = /limit exceeded$/;

function toFault(field: TemplateField, source: string, error: unknown): TemplateFault {
  const cause: unknown = LiquidError.is(error) ? (error.originalError ?? error) : error;
  // RangeError: nested too deep, or a text too long for JavaScript.
  const isTooMuch =
    cause instanceof TooMuch ||
    cause instanceof RangeError ||
    (cause instanceof Error && LIMIT.test(cause.message));
  if (isTooMuch) return { kind: 'too_much', field };
  if (!LiquidError.is(error)) throw error;
  // An expression in a filter's argument has positions of its own.
  const [line = 1, column = 1] = error.token.input === source ? error.token.getPosition() : [];
  if (cause instanceof Error && 'variableName' in cause) {
    return { kind: 'missing_variable', field, line, column, variable: String(cause.variableName) };
  }
  return { kind: 'invalid', field, line, column, detail: describe(error, cause) };
}

/** Errors that are not LiquidJS's own, such as a TypeError of a filter, describe its code and not the template. */
function describe(error: LiquidError, cause: unknown): string {
  const isOwn = cause === error || (cause instanceof Error && cause.name === 'AssertionError');
  // Without the position, which LiquidJS appends.
  return isOwn ? (cause as Error).message.replace(/, line:\d+, col:\d+$/, '') : 'it can not be computed';
}
