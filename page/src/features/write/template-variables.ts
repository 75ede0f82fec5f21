/** Variables of a template, both as they are asked for, by paths such as `order.number`, and as a template takes them. */

interface Variables {
  [name: string]: string | Variables;
}

/** Without inherited properties: a path may have any name. */
const emptyObject = (): Variables => Object.create(null) as Variables;

export function toVariables(values: Readonly<Record<string, string>>): Variables {
  const variables = emptyObject();
  for (const [path, value] of Object.entries(values)) {
    const names = path.split('.');
    const last = names.pop() ?? path;
    let place = variables;
    for (const name of names) {
      const inner = place[name];
      place = place[name] = inner === undefined || typeof inner === 'string' ? emptyObject() : inner;
    }
    // A value with parts can't be a text.
    if (typeof place[last] !== 'object') place[last] = value;
  }
  return variables;
}
