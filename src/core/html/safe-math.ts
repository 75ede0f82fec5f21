/** `calc()`, `min()`, `max()` and `clamp()` in safe styles: a sum of what each may be at most stays within the bounds of its property. */
import type { CssNode, FunctionNode } from 'css-tree';
import type { StyleRule } from './style-rules.ts';

export const MATH: ReadonlySet<string> = new Set(['calc', 'min', 'max', 'clamp']);

const MAX_DEPTH = 5;

/** The largest absolute value; in a factor, all but `plain` are 0. */
interface Bound {
  readonly pixels: number;
  readonly percent: number;
  readonly plain: number;
}

type ToPixels = (node: CssNode & { type: 'Dimension' }) => number;

export function isSafeMath(node: FunctionNode, rule: StyleRule, toPixels: ToPixels): boolean {
  const bound = boundOf(node, toPixels, 0);
  return (
    bound !== null &&
    bound.pixels <= rule.max &&
    bound.percent <= (rule.maxPercent ?? 100) &&
    bound.plain <= (rule.maxNumber ?? 0)
  );
}

/** null when it may not stay. */
function boundOf(node: CssNode, toPixels: ToPixels, depth: number): Bound | null {
  if (depth > MAX_DEPTH) return null;
  switch (node.type) {
    case 'Number':
      return { pixels: 0, percent: 0, plain: Math.abs(Number(node.value)) };
    case 'Percentage':
      return { pixels: 0, percent: Math.abs(Number(node.value)), plain: 0 };
    case 'Dimension': {
      const pixels = Math.abs(toPixels(node));
      return Number.isNaN(pixels) ? null : { pixels, percent: 0, plain: 0 };
    }
    case 'Parentheses':
      return sumOf(node.children.toArray(), toPixels, depth + 1);
    case 'Function':
      return MATH.has(node.name.toLowerCase()) ? sumOf(node.children.toArray(), toPixels, depth + 1) : null;
    default:
      return null;
  }
}

const NOTHING: Bound = { pixels: 0, percent: 0, plain: 0 };

/** Of several arguments, as `min`, `max` and `clamp` have them, the largest counts. */
function sumOf(nodes: readonly CssNode[], toPixels: ToPixels, depth: number): Bound | null {
  let largest = NOTHING;
  let sum = NOTHING;
  let product = NOTHING;
  let operator = '+';
  for (const node of nodes) {
    if (node.type === 'WhiteSpace') continue;
    if (node.type === 'Operator') {
      operator = node.value.trim();
      continue;
    }
    const bound = boundOf(node, toPixels, depth);
    if (bound === null) return null;
    if (operator === '*' || operator === '/') {
      const result = operator === '*' ? multiply(product, bound) : divide(product, node);
      if (result === null) return null;
      product = result;
    } else if (operator === '+' || operator === '-') {
      sum = add(sum, product);
      product = bound;
    } else if (operator === ',') {
      largest = max(largest, add(sum, product));
      sum = NOTHING;
      product = bound;
    } else return null;
  }
  return max(largest, add(sum, product));
}

const add = (a: Bound, b: Bound): Bound => ({
  pixels: a.pixels + b.pixels,
  percent: a.percent + b.percent,
  plain: a.plain + b.plain,
});

const isPlain = ({ pixels, percent }: Bound): boolean => pixels === 0 && percent === 0;

function multiply(a: Bound, b: Bound): Bound | null {
  if (isPlain(b)) return scale(a, b.plain);
  return isPlain(a) ? scale(b, a.plain) : null;
}

/** Only by a number that is written: a difference may be as small as one likes. */
function divide(a: Bound, by: CssNode): Bound | null {
  const number = by.type === 'Number' ? Math.abs(Number(by.value)) : 0;
  return number < 0.01 ? null : scale(a, 1 / number);
}

const max = (a: Bound, b: Bound): Bound => ({
  pixels: Math.max(a.pixels, b.pixels),
  percent: Math.max(a.percent, b.percent),
  plain: Math.max(a.plain, b.plain),
});

const scale = ({ pixels, percent, plain }: Bound, by: number): Bound => ({
  pixels: pixels * by,
  percent: percent * by,
  plain: plain * by,
});
