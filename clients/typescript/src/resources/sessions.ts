/** `client.sessions` */
import type { RequestOptions } from '../options.ts';
import { plain, segment, type Transport } from '../transport.ts';
import type { BrowserSession, LoginRequest, Schemas, Session } from '../types.ts';

/** Log-ins of browsers. The session itself is a cookie: a browser keeps it, and other programs have no use for it. */
export class Sessions {
  readonly #transport: Transport;

  /** @internal */
  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** Logs in with a secret, a key, or the token of a link. Not retried automatically. Fails with `login_failed`. */
  async open(request: LoginRequest, options: RequestOptions = {}): Promise<Session> {
    const { session } = await this.#transport.json({ ...options, repeatable: false }, (attempt) =>
      this.#transport.api.POST('/api/session', { ...attempt, body: plain<Schemas['LoginRequest']>(request) }),
    );
    return session;
  }

  /** The owner and the rights of the session or key. */
  async current(options: RequestOptions = {}): Promise<Session> {
    const { session } = await this.#transport.json({ ...options, repeatable: true }, (attempt) =>
      this.#transport.api.GET('/api/session', attempt),
    );
    return session;
  }

  /** Logs out. Returns the number of sessions that ended: 0 when there was none. */
  async end(options: RequestOptions = {}): Promise<number> {
    const { ended } = await this.#transport.json({ ...options, repeatable: true }, (attempt) =>
      this.#transport.api.DELETE('/api/session', attempt),
    );
    return ended;
  }

  /** The browsers that are logged in with the same key, the last used first. */
  async list(options: RequestOptions = {}): Promise<readonly BrowserSession[]> {
    const { sessions } = await this.#transport.json({ ...options, repeatable: true }, (attempt) =>
      this.#transport.api.GET('/api/sessions', attempt),
    );
    return sessions;
  }

  /** Logs out one browser. Fails with `session_not_found`. */
  async endOne(id: string, options: RequestOptions = {}): Promise<void> {
    const path = { id: segment('id', id) };
    await this.#transport.json({ ...options, repeatable: true }, (attempt) =>
      this.#transport.api.DELETE('/api/sessions/{id}', { ...attempt, params: { path } }),
    );
  }

  /** Logs out everywhere: ends all sessions opened with the same key. Returns their number. */
  async endAll(options: RequestOptions = {}): Promise<number> {
    const { ended } = await this.#transport.json({ ...options, repeatable: true }, (attempt) =>
      this.#transport.api.DELETE('/api/sessions', attempt),
    );
    return ended;
  }
}
