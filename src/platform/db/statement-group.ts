/**
 * Several statements in one message to the server: it executes them one after the other, each sees the changes of those before it, and
 * after a failure it executes none of the rest (PostgreSQL's manual, "Extended Query", "Pipelining"). Most of the cost of a small statement
 * is that two processes wait for each other.
 *
 * `pg` sends one statement at a time. To `pg`, this is a query of its own kind, as pg-cursor's is.
 */
import pg from 'pg';

export interface GroupedQuery {
  readonly name: string;
  readonly text: string;
  readonly values: readonly unknown[];
  /** False: it returns no rows, or none that count. */
  readonly givesRows: boolean;
}

/** The part of pg's Connection that queries use. */
interface Wire {
  readonly stream: { cork(): void; uncork(): void };
  /** Name → text of the statements that the server has parsed. */
  readonly parsedStatements: Record<string, string>;
  parse(statement: { name: string; text: string; types: [] }): void;
  bind(portal: { portal: string; statement: string; values: unknown[] }): void;
  describe(portal: { type: 'P'; name: string }): void;
  execute(portal: { portal: string }): void;
  sync(): void;
  on(event: 'parseComplete', listener: () => void): void;
  off(event: 'parseComplete', listener: () => void): void;
}

interface Field {
  readonly name: string;
  readonly dataTypeID: number;
}

export interface GroupedResult {
  /** The command that the server executed, such as `INSERT`. */
  readonly command: string;
  readonly rows: readonly Record<string, unknown>[];
  /** null if the server reports none. */
  readonly rowCount: number | null;
}

type Callback = (error: Error | null, results?: readonly GroupedResult[]) => void;

/** Pass it to `pg.Client.query`. Ends with the results, or with the error of the first statement that failed. */
export class StatementGroup {
  readonly #queries: readonly GroupedQuery[];
  readonly #areNamed: boolean;
  readonly #results: GroupedResult[] = [];
  /** Statements that the server has yet to parse, in order. */
  readonly #unparsed: GroupedQuery[] = [];
  #fields: readonly Field[] | null = null;
  #rows: Record<string, unknown>[] = [];
  #forget = () => {};
  /** `pg` replaces it with its own, for its time limit. */
  callback: Callback;

  /** Throws for a value that can't be sent. @param areNamed false: the server keeps none of the statements; see session.ts */
  constructor(
    queries: readonly GroupedQuery[],
    callback: Callback,
    { areNamed }: { readonly areNamed: boolean },
  ) {
    this.#areNamed = areNamed;
    this.#queries = queries.map((query) => ({
      ...query,
      values: query.values.map((value) => toWire(value)),
    }));
    this.callback = callback;
  }

  submit(wire: Wire): Error | null {
    const onParsed = () => {
      const parsed = this.#unparsed.shift();
      if (parsed !== undefined) wire.parsedStatements[parsed.name] = parsed.text;
    };
    wire.on('parseComplete', onParsed);
    this.#forget = () => wire.off('parseComplete', onParsed);
    wire.stream.cork();
    try {
      for (const query of this.#queries) this.#send(wire, query);
    } finally {
      wire.sync();
      wire.stream.uncork();
    }
    return null;
  }

  #send(wire: Wire, query: GroupedQuery): void {
    const { text, values, givesRows } = query;
    const name = this.#areNamed ? query.name : '';
    const isParsed =
      this.#areNamed &&
      (wire.parsedStatements[name] !== undefined || this.#unparsed.some((one) => one.name === name));
    if (!isParsed) {
      wire.parse({ name, text, types: [] });
      if (this.#areNamed) this.#unparsed.push(query);
    }
    wire.bind({ portal: '', statement: name, values: [...values] });
    if (givesRows) wire.describe({ type: 'P', name: '' });
    wire.execute({ portal: '' });
  }

  handleRowDescription({ fields }: { readonly fields: readonly Field[] }): void {
    this.#fields = fields;
  }

  handleDataRow({ fields: values }: { readonly fields: readonly (string | null)[] }): void {
    if (this.#fields === null) return;
    const row: Record<string, unknown> = {};
    for (const [index, { name, dataTypeID }] of this.#fields.entries()) {
      const value = values[index] ?? null;
      row[name] = value === null ? null : pg.types.getTypeParser(dataTypeID)(value);
    }
    this.#rows.push(row);
  }

  /** @param text such as `INSERT 0 5` */
  handleCommandComplete({ text }: { readonly text: string }): void {
    const words = text.split(' ');
    const [command = ''] = words;
    const count = Number(words.length > 1 ? words.at(-1) : Number.NaN);
    this.#results.push({ command, rows: this.#rows, rowCount: Number.isNaN(count) ? null : count });
    this.#fields = null;
    this.#rows = [];
  }

  handleReadyForQuery(): void {
    this.#forget();
    this.callback(null, this.#results);
  }

  handleError(error: Error): void {
    this.#forget();
    this.callback(error);
  }
}

/** As pg's own queries do it. */
const toWire = (pg as unknown as { utils: { prepareValue(value: unknown): unknown } }).utils.prepareValue;
