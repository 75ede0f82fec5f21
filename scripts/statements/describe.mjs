/** Makes the server parse statements (Parse and Describe of its protocol), and finds columns that outer joins may leave null. */
import path from 'node:path';
import { pathToFileURL } from 'node:url';

/** In bytes; PostgreSQL cuts off longer names. */
const MAX_NAME = 63;

/** Imports the modules; returns name → the statement, or all statements of a family. */
export async function loadStatements(dist, places) {
  for (const { file } of places.values()) {
    const compiled = path.join(dist, path.relative('src', file)).replace(/\.ts$/, '.js');
    await import(pathToFileURL(compiled).href);
  }
  const { allStatements } = await import(
    pathToFileURL(path.join(dist, 'platform', 'db', 'statement.js')).href
  );
  return allStatements();
}

/**
 * Returns statements as `{ name, place, isJson, parameters: [{ name, typeId, isAlways }], columns: [{ name, typeId, tableId, columnId,
 * isNullable }] }`, for a family the properties that all its statements share, and faults with their places.
 */
export async function describeAll(client, loaded, places) {
  const faults = [];
  const statements = [];
  for (const [name, all] of loaded) {
    const place = places.get(name);
    if (place === undefined) {
      faults.push(`the statement ${name} has a name that is no literal`);
      continue;
    }
    const at = `${place.file}:${place.line}: ${name}`;
    try {
      statements.push({ name, place, ...(await describeFamily(client, all())) });
    } catch (error) {
      faults.push(`${at}: ${error.message}`);
    }
  }
  return { statements: statements.sort((a, b) => (a.name < b.name ? -1 : 1)), faults };
}

async function describeFamily(client, family) {
  const parameters = new Map();
  let columns = null;
  for (const statement of family) {
    if (Buffer.byteLength(statement.name) > MAX_NAME) throw new Error(`${statement.name} is too long`);
    const { parameterTypes, fields } = await describe(client, statement.text);
    for (const [index, typeId] of parameterTypes.entries()) {
      const name = statement.parameters[index];
      const known = parameters.get(name) ?? { name, typeId, count: 0 };
      if (known.typeId !== typeId) throw new Error(`$${name} has different types in ${statement.name}`);
      known.count += 1;
      parameters.set(name, known);
    }
    if (columns === null) {
      const nullable = await findNullable(client, statement.text, fields);
      columns = fields.map(({ name, dataTypeID, tableID, columnID }, index) => ({
        name,
        typeId: dataTypeID,
        tableId: tableID,
        columnId: columnID,
        isNullable: nullable.has(index),
      }));
    } else if (shapeOf(fields) !== shapeOf(columns)) {
      throw new Error(`${statement.name} gives other columns than ${family[0].name}`);
    }
  }
  const names = columns.map(({ name }) => name);
  if (new Set(names).size < names.length)
    throw new Error(`it gives two columns of one name: ${names.join(', ')}`);
  return {
    isJson: family[0].isJson,
    parameters: [...parameters.values()].map(({ count, ...parameter }) => ({
      ...parameter,
      isAlways: count === family.length,
    })),
    columns,
  };
}

const shapeOf = (columns) =>
  JSON.stringify(columns.map(({ name, typeId, dataTypeID }) => [name, typeId ?? dataTypeID]));

/** Sends Parse and Describe; the statement is not run. */
function describe(client, text) {
  return new Promise((resolve, reject) => {
    let parameterTypes = [];
    let fields = [];
    const { connection } = client;
    const onParameters = (message) => {
      parameterTypes = message.dataTypeIDs;
    };
    connection.once('parameterDescription', onParameters);
    client.query({
      submit() {
        connection.parse({ name: '', text, types: [] });
        connection.describe({ type: 'S', name: '' });
        connection.sync();
      },
      handleRowDescription(message) {
        fields = message.fields;
      },
      // After an error `pg` calls no other handler; the next queued query waits until the server is ready.
      handleError(error) {
        connection.off('parameterDescription', onParameters);
        reject(new Error(withPosition(error, text)));
      },
      handleReadyForQuery() {
        resolve({ parameterTypes, fields });
      },
    });
  });
}

function withPosition(error, text) {
  const position = Number(error.position ?? 0);
  if (position === 0) return error.message;
  const before = text.slice(0, position - 1);
  const line = text.slice(before.lastIndexOf('\n') + 1).split('\n')[0];
  return `${error.message}: ${line.trim()}`;
}

/** Indexes of table columns that may be null because their table is on the optional side of an outer join. */
async function findNullable(client, text, fields) {
  const found = new Set();
  if (!/\b(left|right|full)\s+(outer\s+)?join\b/i.test(text)) return found;
  const { rows } = await client.query(`explain (verbose, generic_plan, format json) ${text}`);
  const top = rows[0]['QUERY PLAN'][0].Plan;
  const [optional, certain] = [new Set(), new Set()];
  sortOutputs(top, false, optional, certain);
  for (const [index, { tableID }] of fields.entries()) {
    const output = top.Output?.[index];
    if (tableID !== 0 && (optional.has(output) || !certain.has(output))) found.add(index);
  }
  return found;
}

/** Sorts outputs: those that outer joins may leave null, and those of tables that outer joins can't. */
function sortOutputs(node, isOptional, optional, certain) {
  const isLeaf = node['Relation Name'] !== undefined || node.Plans === undefined;
  for (const output of node.Output ?? []) {
    if (isOptional) optional.add(output);
    else if (isLeaf) certain.add(output);
  }
  const optionalSides =
    { Left: ['Inner'], Right: ['Outer'], Full: ['Inner', 'Outer'] }[node['Join Type']] ?? [];
  for (const child of node.Plans ?? []) {
    const becomesOptional = optionalSides.includes(child['Parent Relationship']);
    sortOutputs(child, isOptional || becomesOptional, optional, certain);
  }
}
