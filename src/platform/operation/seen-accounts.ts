/** The accounts that a caller sees, and those that a request names. */
import type { ErrorCode } from '../../core/error-registry.ts';
import { invalidRequest, ServiceError } from '../../core/errors.ts';

export interface AccountsPorts {
  readonly defaultAccountId: string;
  /**
   * True if the account is configured, or anything is recorded for it, as for one that was configured earlier or that only other processes
   * have. Throws `ServiceError('database_unavailable')`.
   */
  readonly isKnown: (accountId: string) => boolean | Promise<boolean>;
  /** The account among these (null: all) that sends as the address. Throws `forbidden_from`, and `invalid_request` for several. */
  readonly ofSender: (from: string, among: readonly string[] | null) => string;
}

export class Seen {
  /** null: all. */
  readonly accounts: readonly string[] | null;
  readonly #ports: AccountsPorts;

  constructor(accounts: readonly string[] | null, ports: AccountsPorts) {
    this.accounts = accounts;
    this.#ports = ports;
  }

  /** @param accountId null: of all accounts, or of none */
  sees(accountId: string | null): boolean {
    return this.accounts === null || (accountId !== null && this.accounts.includes(accountId));
  }

  /** Requires access to a thing by its account, which is looked up only for a caller who does not see all. Throws `missing`. */
  async require(accountOf: () => Promise<string | null>, missing: ErrorCode): Promise<void> {
    if (this.accounts !== null && !this.sees(await accountOf())) throw new ServiceError(missing);
  }

  /** Requires access to an account that a request names, and that the account exists. Throws `unknown_account`. */
  async requireNamed(accountId: string): Promise<void> {
    if (this.sees(accountId) && (await this.#ports.isKnown(accountId))) return;
    throw new ServiceError('unknown_account', { values: { value: accountId } });
  }

  /** The account of a send that names From and no account. Throws `forbidden_from`, and `invalid_request` when it has to name one. */
  sender(from: string): string {
    return this.#ports.ofSender(from, this.accounts);
  }

  /** The accounts to read. @param accountId that the request names, or null */
  async within(accountId: string | null): Promise<readonly string[] | null> {
    if (accountId === null) return this.accounts;
    await this.requireNamed(accountId);
    return null;
  }

  /**
   * The account of something that belongs to one: the one that is named, else the default one, or the only one of the caller. Throws
   * `unknown_account`, and `invalid_request` when the caller has to name one.
   */
  async chosen(accountId: string | null): Promise<string> {
    const { defaultAccountId } = this.#ports;
    const [only = defaultAccountId, ...others] = this.accounts ?? [defaultAccountId];
    const id = accountId ?? (others.length > 0 || this.sees(defaultAccountId) ? defaultAccountId : only);
    if (accountId === null && !this.sees(id)) throw invalidRequest('missing', { field: 'account_id' });
    await this.requireNamed(id);
    return id;
  }

  /**
   * The account of something that may belong to all: null stays null for a caller who sees all accounts, and is the only account of
   * another one. Throws as `chosen` does.
   */
  async chosenOrAll(accountId: string | null): Promise<string | null> {
    if (accountId === null && this.accounts === null) return null;
    const [only, ...others] = this.accounts ?? [];
    if (accountId === null && others.length > 0) throw invalidRequest('missing', { field: 'account_id' });
    const id = accountId ?? only ?? null;
    if (id !== null) await this.requireNamed(id);
    return id;
  }
}
