/** `client.accounts` */
import type { RequestOptions } from '../options.ts';
import { plain, segment, type Transport } from '../transport.ts';
import type {
  Account,
  AccountCreation,
  AccountChange,
  AccountCheck,
  AccountConsent,
  AccountRequest,
  AccountCapture,
  CapturePreview,
  CaptureRemoval,
  DeletedAccount,
  FoundSettings,
  LeftOutMessage,
  Schemas,
} from '../types.ts';

const pathOf = (id: string) => ({ id: segment('id', id) });

/** Mail identities with their servers. */
export class Accounts {
  readonly #transport: Transport;

  /** @internal */
  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** All accounts, with the state of their mailboxes. */
  async list(options: RequestOptions = {}): Promise<readonly Account[]> {
    const { accounts } = await this.#transport.json({ ...options, repeatable: true }, (attempt) =>
      this.#transport.api.GET('/api/accounts', attempt),
    );
    return accounts;
  }

  /** Not retried automatically: a repeat fails with `account_exists`. */
  async create(
    request: AccountRequest,
    query: AccountCreation = {},
    options: RequestOptions = {},
  ): Promise<Account> {
    const body = plain<Schemas['CreateAccountRequest']>(request);
    return this.#transport.json({ ...options, repeatable: false }, (attempt) =>
      this.#transport.api.POST('/api/accounts', { ...attempt, params: { query: plain(query) }, body }),
    );
  }

  /**
   * Tries the servers of an account that need not exist; nothing is kept. With `sendMessage`, the account sends a message to itself, and the
   * call is not retried automatically.
   */
  async check(
    request: AccountRequest,
    { sendMessage = false, ...options }: RequestOptions & { readonly sendMessage?: boolean } = {},
  ): Promise<AccountCheck> {
    const body = plain<Schemas['CreateAccountRequest']>(request);
    const params = { query: sendMessage ? { send_message: true } : {} };
    return this.#transport.json({ ...options, repeatable: !sendMessage }, (attempt) =>
      this.#transport.api.POST('/api/accounts/check', { ...attempt, params, body }),
    );
  }

  /** The servers of a mailbox, the likeliest first; they are looked up, and not connected to. */
  async findSettings(address: string, options: RequestOptions = {}): Promise<FoundSettings> {
    return this.#transport.json({ ...options, repeatable: true }, (attempt) =>
      this.#transport.api.GET('/api/accounts/settings', { ...attempt, params: { query: { address } } }),
    );
  }

  /** Fails with `account_not_found`. */
  async get(id: string, options: RequestOptions = {}): Promise<Account> {
    const path = pathOf(id);
    return this.#transport.json({ ...options, repeatable: true }, (attempt) =>
      this.#transport.api.GET('/api/accounts/{id}', { ...attempt, params: { path } }),
    );
  }

  /** Fields that are not given keep their values; null removes one. Not retried automatically: a repeat fails with `account_changed`. */
  async change(
    id: string,
    version: number,
    request: AccountChange,
    options: RequestOptions = {},
  ): Promise<Account> {
    const path = pathOf(id);
    return this.#transport.json({ ...options, repeatable: false }, (attempt) =>
      this.#transport.api.PATCH('/api/accounts/{id}', {
        ...attempt,
        params: { path, header: { 'If-Match': `"${version}"` } },
        body: plain<Schemas['ChangeAccountRequest']>(request),
      }),
    );
  }

  /** Its mail stays unless `erase` is true. Not retried automatically: a repeat fails with `account_not_found`. */
  async delete(
    id: string,
    { erase = false, ...options }: RequestOptions & { readonly erase?: boolean } = {},
  ): Promise<DeletedAccount> {
    const path = pathOf(id);
    return this.#transport.json({ ...options, repeatable: false }, (attempt) =>
      this.#transport.api.DELETE('/api/accounts/{id}', { ...attempt, params: { path, query: { erase } } }),
    );
  }

  /** What `delete` with `erase` would erase; it fails like `delete`, and deletes nothing. */
  async checkDelete(id: string, options: RequestOptions = {}): Promise<DeletedAccount> {
    const path = pathOf(id);
    const query = { erase: true, dry_run: true };
    return this.#transport.json({ ...options, repeatable: true }, (attempt) =>
      this.#transport.api.DELETE('/api/accounts/{id}', { ...attempt, params: { path, query } }),
    );
  }

  /** Nothing is sent or read until `resume`. */
  async pause(id: string, options: RequestOptions = {}): Promise<Account> {
    const path = pathOf(id);
    return this.#transport.json({ ...options, repeatable: true }, (attempt) =>
      this.#transport.api.POST('/api/accounts/{id}/pause', { ...attempt, params: { path } }),
    );
  }

  async resume(id: string, options: RequestOptions = {}): Promise<Account> {
    const path = pathOf(id);
    return this.#transport.json({ ...options, repeatable: true }, (attempt) =>
      this.#transport.api.POST('/api/accounts/{id}/resume', { ...attempt, params: { path } }),
    );
  }

  /**
   * A link for the owner of its mailboxes, who consents at the provider. A newer link replaces it. Without `returnUrl`, the owner sees a page
   * of the service at the end.
   */
  async requestConsent(
    id: string,
    { returnUrl, ...options }: RequestOptions & { readonly returnUrl?: string } = {},
  ): Promise<AccountConsent> {
    const path = pathOf(id);
    return this.#transport.json({ ...options, repeatable: true }, (attempt) =>
      this.#transport.api.POST('/api/accounts/{id}/consent', {
        ...attempt,
        params: { path },
        body: returnUrl === undefined ? {} : { return_url: returnUrl },
      }),
    );
  }

  /** Messages with this Message-ID that the rules of accounts (`capture`) left out in the last 30 days. */
  async leftOut(
    query: { readonly message_id: string; readonly account_id?: string },
    options: RequestOptions = {},
  ): Promise<readonly LeftOutMessage[]> {
    const { messages } = await this.#transport.json({ ...options, repeatable: true }, (attempt) =>
      this.#transport.api.GET('/api/left-out', { ...attempt, params: { query } }),
    );
    return messages;
  }

  /**
   * What rules would leave out of what is recorded, page by page: add up the counts. Without `capture` the rules of the account are judged;
   * null stands for none. Nothing is changed.
   */
  async *previewCapture(
    id: string,
    {
      capture,
      limit = 1000,
      ...options
    }: RequestOptions & { readonly capture?: AccountCapture; readonly limit?: number } = {},
  ): AsyncGenerator<CapturePreview, void, undefined> {
    const path = pathOf(id);
    for (let cursor: string | null = null, isFirst = true; isFirst || cursor !== null; isFirst = false) {
      const page: CapturePreview = await this.#transport.json({ ...options, repeatable: true }, (attempt) =>
        this.#transport.api.POST('/api/accounts/{id}/capture/preview', {
          ...attempt,
          params: { path, query: cursor === null ? { limit } : { limit, cursor } },
          body: capture === undefined ? {} : { capture },
        }),
      );
      yield page;
      cursor = page.next_cursor;
    }
  }

  /**
   * Removes what the rules of the account leave out, in the background and permanently. `emails` is the sum of `removable` of all pages of
   * the preview. Not retried automatically: a repeat fails with `removal_running`.
   */
  async removeLeftOut(
    id: string,
    version: number,
    { emails, dryRun = false }: { readonly emails: number; readonly dryRun?: boolean },
    options: RequestOptions = {},
  ): Promise<CaptureRemoval> {
    const path = pathOf(id);
    const params = { path, query: { dry_run: dryRun }, header: { 'If-Match': `"${version}"` } };
    return this.#transport.json({ ...options, repeatable: dryRun }, (attempt) =>
      this.#transport.api.POST('/api/accounts/{id}/capture/removal', {
        ...attempt,
        params,
        body: { emails },
      }),
    );
  }

  /** Its newest removal. Fails with `removal_not_found` when there was none. */
  async removal(id: string, options: RequestOptions = {}): Promise<CaptureRemoval> {
    const path = pathOf(id);
    return this.#transport.json({ ...options, repeatable: true }, (attempt) =>
      this.#transport.api.GET('/api/accounts/{id}/capture/removal', { ...attempt, params: { path } }),
    );
  }

  /** Nothing more is removed. */
  async stopRemoval(id: string, options: RequestOptions = {}): Promise<CaptureRemoval> {
    const path = pathOf(id);
    return this.#transport.json({ ...options, repeatable: true }, (attempt) =>
      this.#transport.api.POST('/api/accounts/{id}/capture/removal/stop', { ...attempt, params: { path } }),
    );
  }

  /** Compares its mailboxes with what is recorded, and judges again what was left out. */
  async resync(id: string, options: RequestOptions = {}): Promise<Account> {
    const path = pathOf(id);
    return this.#transport.json({ ...options, repeatable: true }, (attempt) =>
      this.#transport.api.POST('/api/accounts/{id}/resync', { ...attempt, params: { path } }),
    );
  }
}
