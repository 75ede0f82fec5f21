/** The regular expressions of the source: literals found by parsing it, others by watching it create them. */
import { readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { Visitor, parseSync } from 'oxc-parser';

const SOURCE = fileURLToPath(new URL('../../src', import.meta.url));

export interface FoundExpression {
  /** Path below src. */
  readonly file: string;
  readonly line: number;
  readonly source: string;
  readonly flags: string;
  /** The most characters that it is ever given, from the comment above it; null if no comment gives a bound. */
  readonly maxChars: number | null;
}

/** A call of `RegExp` whose pattern is only known at run time. */
export interface FoundCall {
  readonly file: string;
  readonly line: number;
  readonly maxChars: number | null;
}

/** The expression that such a call created. */
export interface MadeExpression {
  readonly file: string;
  readonly source: string;
  readonly flags: string;
}

export interface SourceExpressions {
  readonly literals: readonly FoundExpression[];
  readonly calls: readonly FoundCall[];
}

/** Files with code of the service, below src. */
export function sourceFiles(): readonly string[] {
  return readdirSync(SOURCE, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts') && !file.includes('.test.') && !file.endsWith('.d.ts'))
    .sort();
}

/** Throws if the file can't be parsed. */
export function findExpressions(file: string): SourceExpressions {
  const text = readFileSync(path.join(SOURCE, file), 'utf8');
  const { program, errors } = parseSync(file, text);
  if (errors.length > 0) throw new Error(`${file}: ${errors[0]?.message}`);
  const lines = text.split('\n');
  const literals: FoundExpression[] = [];
  const calls: FoundCall[] = [];
  const place = (offset: number) => {
    const line = text.slice(0, offset).split('\n').length;
    return { file, line, maxChars: boundAbove(lines, line) };
  };
  const addCall = (node: { readonly callee: { readonly type: string }; readonly start: number }): void => {
    if (node.callee.type === 'Identifier' && Reflect.get(node.callee, 'name') === 'RegExp')
      calls.push(place(node.start));
  };
  new Visitor({
    Literal(node) {
      if (!('regex' in node)) return;
      literals.push({ ...place(node.start), source: node.regex.pattern, flags: node.regex.flags });
    },
    NewExpression: addCall,
    CallExpression: addCall,
  }).visit(program);
  return { literals, calls };
}

/** `Input: at most 320 characters` in the comment above; not more than four lines above. */
function boundAbove(lines: readonly string[], line: number): number | null {
  const above = lines.slice(Math.max(0, line - 5), line - 1).join('\n');
  const bound = /Input: at most ([\d,]+) characters/.exec(above)?.[1];
  return bound === undefined ? null : Number(bound.replaceAll(',', ''));
}

/** Loads the files, and records the expressions that they create with `RegExp` meanwhile. */
export async function watchExpressions(files: readonly string[]): Promise<readonly MadeExpression[]> {
  const made: MadeExpression[] = [];
  const remember = (expression: RegExp): RegExp => {
    const frame = new Error('made here').stack?.split('\n').find((line) => line.includes('/src/'));
    const file = files.find((name) => frame?.includes(`/src/${name}`));
    if (file !== undefined) made.push({ file, source: expression.source, flags: expression.flags });
    return expression;
  };
  const original = globalThis.RegExp;
  globalThis.RegExp = new Proxy(original, {
    construct: (target, args: [string, string?]) => remember(new target(...args)),
    apply: (target, _self, args: [string, string?]) => remember(target(...args)),
  });
  try {
    for (const file of files) await import(path.join(SOURCE, file));
  } finally {
    globalThis.RegExp = original;
  }
  return made;
}
