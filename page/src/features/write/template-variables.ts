/** Variables of a template as they are asked for, by paths such as `order.number`, and as a template takes them. */

interface Variables {
  [name: string]: string | Variables;
}

/** Names of an object's own making, whatever a path is called. */
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
    // What has parts is no text.
    if (typeof place[last] !== 'object') place[last] = value;
  }
  return variables;
}
