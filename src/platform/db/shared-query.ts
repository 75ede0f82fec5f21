/** A query on a connection without a session of its own; see session.ts. It is a query of `pg` that writes some more messages. */
import pg from 'pg';
import type { TransactionSettings } from './session.ts';

type Callback = (error: Error | null | undefined, result: unknown) => void;

/** The part of pg's Connection that is used here. */
interface Wire {
  readonly stream: { cork(): void; uncork(): void };
  parse(statement: { name: string; text: string; types: [] }): void;
  bind(portal: { portal: string; statement: string; values: [] }): void;
  execute(portal: { portal: string }): void;
}

/** The part of pg's Query that its types leave out. */
interface Internals {
  text: string;
  name: string | undefined;
  values: readonly unknown[] | undefined;
  queryMode: string | undefined;
  callback: Callback | undefined;
  submit(wire: Wire): Error | null;
  requiresPreparation(): boolean;
  handleRowDescription(message: unknown): void;
  handleDataRow(message: unknown): void;
  handleCommandComplete(message: unknown, wire: unknown): void;
}

const PgQuery = pg.Query as unknown as new (...args: readonly unknown[]) => Internals;

const BEGIN = /^\s*(?:begin|start\s+transaction)\b/i;

/**
 * Outside of a transaction, the settings go before the statement in one implicit transaction, which ends with the message Sync (or with the
 * text, if it holds several commands). For `begin` they come after it. The answers to them are skipped.
 */
export class SharedQuery extends PgQuery {
  readonly #client: pg.ClientBase;
  readonly #settings: TransactionSettings;
  /** Commands whose answers are skipped before that of the query, and answers of the query: null counts none. */
  #ahead = 0;
  #answers: number | null = null;

  /** @param args those of `pg.Client.query`; a name is left out */
  constructor(client: pg.ClientBase, settings: TransactionSettings, args: readonly unknown[]) {
    super(...args);
    this.#client = client;
    this.#settings = settings;
    this.name = undefined;
    // A statement without parameters is still one statement.
    if (Array.isArray(this.values)) this.queryMode = 'extended';
  }

  override submit(wire: Wire): Error | null {
    if (this.#client.getTransactionStatus() !== 'I') return super.submit(wire);
    const { select, commands } = this.#settings;
    if (!this.requiresPreparation()) {
      if (BEGIN.test(this.text)) {
        this.text = [this.text, ...commands].join('; ');
        this.#answers = 1;
      } else {
        this.text = [...commands, this.text].join('; ');
        this.#ahead = commands.length;
      }
      return super.submit(wire);
    }
    wire.stream.cork();
    try {
      wire.parse({ name: '', text: select, types: [] });
      wire.bind({ portal: '', statement: '', values: [] });
      wire.execute({ portal: '' });
      this.#ahead = 1;
      return super.submit(wire);
    } finally {
      wire.stream.uncork();
    }
  }

  override handleDataRow(message: unknown): void {
    if (this.#ahead === 0) super.handleDataRow(message);
  }

  override handleCommandComplete(message: unknown, wire: unknown): void {
    if (this.#ahead > 0) {
      this.#ahead -= 1;
      return;
    }
    if (this.#answers === 0) return;
    if (this.#answers !== null) this.#answers -= 1;
    super.handleCommandComplete(message, wire);
  }
}
