/** `client.health` */
import type { RequestOptions } from '../options.ts';
import type { Transport } from '../transport.ts';
import type { HealthResult, Readiness } from '../types.ts';

/** These endpoints need no secret, so none is sent. */
const WITHOUT_SECRET = { headers: { Authorization: null } } as const;

export class Health {
  readonly #transport: Transport;

  /** @internal */
  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** Succeeds if the service runs. */
  async live(options: RequestOptions = {}): Promise<HealthResult> {
    return this.#transport.json({ ...options, repeatable: true }, (attempt) =>
      this.#transport.api.GET('/api/health', { ...attempt, ...WITHOUT_SECRET }),
    );
  }

  /** Reports whether everything that the service depends on answers. Asks once: "not ready" is an answer. */
  async ready(options: Omit<RequestOptions, 'retries'> = {}): Promise<Readiness> {
    const { status, checks } = await this.#transport.json(
      { ...options, retries: 0, repeatable: true, isAnswer: isNotReady },
      (attempt) => this.#transport.api.GET('/api/health/ready', { ...attempt, ...WITHOUT_SECRET }),
    );
    return { ready: status === 'ready', checks: checks ?? {} };
  }

  /** The OpenAPI document of the service. */
  async openApiDocument(options: RequestOptions = {}): Promise<Readonly<Record<string, unknown>>> {
    return this.#transport.json({ ...options, repeatable: true }, (attempt) =>
      this.#transport.api.GET('/api/openapi.json', { ...attempt, ...WITHOUT_SECRET }),
    );
  }
}

function isNotReady(body: unknown): boolean {
  const { code } = Object(body) as { code?: unknown };
  return code === 'not_ready' || code === 'shutting_down';
}
