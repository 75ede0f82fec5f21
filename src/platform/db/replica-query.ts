/** A query on a connection to a replica: the position that the replica must have replayed goes before it in the same message group. */
import pg from 'pg';
import type { TransactionSettings } from './session.ts';

type Callback = (error: Error | null | undefined, result: unknown) => void;

/** The part of pg's Connection that is used here. */
interface Wire {
  readonly stream: { cork(): void; uncork(): void };
  parse(statement: { name: string; text: string; types: [] }): void;
  bind(portal: { portal: string; statement: string; values: readonly string[] }): void;
  execute(portal: { portal: string }): void;
}

/** The part of pg's Query that its types leave out. */
interface Internals {
  name: string | undefined;
  queryMode: string | undefined;
  callback: Callback | undefined;
  submit(wire: Wire): Error | null;
  handleDataRow(message: unknown): void;
  handleCommandComplete(message: unknown, wire: unknown): void;
}

const PgQuery = pg.Query as unknown as new (...args: readonly unknown[]) => Internals;

/** A statement to be executed before the query; its answer is skipped. */
export interface Precondition {
  readonly name: string;
  readonly text: string;
  readonly values: readonly string[];
}

export interface ReplicaQueryOptions {
  readonly precondition: Precondition;
  /** null: the connection has a session to itself, in which the precondition is prepared under its name. See session.ts. */
  readonly settings: TransactionSettings | null;
}

/** The server executes nothing after a precondition that fails, and the query ends with that failure. */
export class ReplicaQuery extends PgQuery {
  readonly #options: ReplicaQueryOptions;
  /** Commands whose answers are skipped before that of the query. */
  #ahead = 0;

  constructor(
    config: { readonly name?: string; readonly text: string; readonly values: readonly unknown[] },
    options: ReplicaQueryOptions,
  ) {
    super(config);
    this.#options = options;
    if (options.settings !== null) this.name = undefined;
    // A statement without parameters is still one statement.
    this.queryMode = 'extended';
  }

  override submit(wire: Wire): Error | null {
    const { precondition, settings } = this.#options;
    wire.stream.cork();
    try {
      if (settings !== null) {
        this.#ask(wire, settings.select, []);
        this.#ask(wire, precondition.text, precondition.values);
      } else {
        // It was parsed before: `pg` would take the server's answer to that for an answer to this query.
        wire.bind({ portal: '', statement: precondition.name, values: precondition.values });
        wire.execute({ portal: '' });
        this.#ahead += 1;
      }
      return super.submit(wire);
    } finally {
      wire.stream.uncork();
    }
  }

  #ask(wire: Wire, text: string, values: readonly string[]): void {
    wire.parse({ name: '', text, types: [] });
    wire.bind({ portal: '', statement: '', values });
    wire.execute({ portal: '' });
    this.#ahead += 1;
  }

  override handleDataRow(message: unknown): void {
    if (this.#ahead === 0) super.handleDataRow(message);
  }

  override handleCommandComplete(message: unknown, wire: unknown): void {
    if (this.#ahead > 0) this.#ahead -= 1;
    else super.handleCommandComplete(message, wire);
  }
}
