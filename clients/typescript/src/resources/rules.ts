/** `client.rules` */
import { readVersion, type RequestOptions, type VersionOptions } from '../options.ts';
import { plain, segment, type Transport } from '../transport.ts';
import type {
  DeletedRule,
  Rule,
  RuleChange,
  RulePreview,
  RulePreviewRequest,
  RuleRequest,
} from '../types.ts';

/** Rules on received mail, judged once for each email. */
export class Rules {
  readonly #transport: Transport;

  /** @internal */
  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** Behind all others. Not retried automatically: a repeat would make another rule. */
  create(request: RuleRequest, options: RequestOptions = {}): Promise<Rule> {
    return this.#transport.json({ ...options, repeatable: false }, (attempt) =>
      this.#transport.api.POST('/api/rules', { ...attempt, body: plain(request) }),
    );
  }

  /** All of them, in the order in which they are judged. */
  async list(options: RequestOptions = {}): Promise<readonly Rule[]> {
    const { rules } = await this.#transport.json({ ...options, repeatable: true }, (attempt) =>
      this.#transport.api.GET('/api/rules', attempt),
    );
    return rules;
  }

  async get(id: string, options: RequestOptions = {}): Promise<Rule> {
    const path = { id: segment('id', id) };
    return this.#transport.json({ ...options, repeatable: true }, (attempt) =>
      this.#transport.api.GET('/api/rules/{id}', { ...attempt, params: { path } }),
    );
  }

  /** Fields that are not given keep their values. `version`: only if this is its version. */
  async change(id: string, request: RuleChange, versioned: VersionOptions = {}): Promise<Rule> {
    const path = { id: segment('id', id) };
    const { header, options } = readVersion(versioned);
    return this.#transport.json(options, (attempt) =>
      this.#transport.api.PATCH('/api/rules/{id}', {
        ...attempt,
        params: { path, ...header },
        body: plain(request),
      }),
    );
  }

  /** @param ids all rules that the caller sees, in their new order */
  async order(ids: readonly string[], options: RequestOptions = {}): Promise<readonly Rule[]> {
    const { rules } = await this.#transport.json({ ...options, repeatable: true }, (attempt) =>
      this.#transport.api.POST('/api/rules/order', { ...attempt, body: { rule_ids: [...ids] } }),
    );
    return rules;
  }

  /** Which of the newest received emails it would match; nothing is changed. */
  preview(request: RulePreviewRequest, options: RequestOptions = {}): Promise<RulePreview> {
    return this.#transport.json({ ...options, repeatable: true }, (attempt) =>
      this.#transport.api.POST('/api/rules/preview', { ...attempt, body: plain(request) }),
    );
  }

  /** What it did stays. `version`: only if this is its version. */
  async delete(id: string, versioned: VersionOptions = {}): Promise<DeletedRule> {
    const path = { id: segment('id', id) };
    const { header, options } = readVersion(versioned);
    return this.#transport.json({ ...options, repeatable: false }, (attempt) =>
      this.#transport.api.DELETE('/api/rules/{id}', { ...attempt, params: { path, ...header } }),
    );
  }
}
