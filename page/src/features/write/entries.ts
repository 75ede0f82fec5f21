/** Splits a field into its addresses (RFC 5322 §3.4). */

/** The position at which each address of a field begins. Commas in quotes and comments do not separate. */
export function startsIn(field: string): readonly number[] {
  const starts = [0];
  let isQuoted = false;
  let depth = 0;
  for (let at = 0; at < field.length; at += 1) {
    const char = field[at];
    if (char === '\\') at += 1;
    else if (char === '"' && depth === 0) isQuoted = !isQuoted;
    else if (char === '(' && !isQuoted) depth += 1;
    else if (char === ')' && depth > 0) depth -= 1;
    else if (char === ',' && !isQuoted && depth === 0) starts.push(at + 1);
  }
  return starts;
}

/** The text between the commas. */
export function entriesOf(field: string): readonly string[] {
  const starts = startsIn(field);
  return starts.map((start, index) => {
    const next = starts[index + 1];
    return field.slice(start, next === undefined ? field.length : next - 1).trim();
  });
}
