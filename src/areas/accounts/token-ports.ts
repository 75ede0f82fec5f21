/** OAuth2 access tokens that take the place of a password (RFC 6749, RFC 7628), and where their state is kept. */

/** `permanent`: an operator must act, for example give the consent again; otherwise it may work later. */
export class TokenError extends Error {
  override readonly name = 'TokenError';
  readonly permanent: boolean;

  /** `message`: English, for the operator; never holds a secret. */
  constructor(message: string, permanent: boolean, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.permanent = permanent;
  }
}

/** How a program gets a token without the consent of a person; an administrator has allowed it. */
export type OwnGrant =
  /** RFC 6749 §4.4: the application reads every mailbox that it may. */
  | { readonly kind: 'client_credentials' }
  /** RFC 7523 §2.1: a service account in the name of a user. `privateKey` in PEM. */
  | { readonly kind: 'jwt_bearer'; readonly privateKey: string; readonly subject: string };

export interface AccessTokens {
  /** A token that is still valid. Throws `TokenError`. */
  get(accountId: string): Promise<string>;
  /** The server did not take this token, whatever its lifetime says: the next `get` returns a new one. */
  reject(accountId: string, token: string): void;
  /** Why mail will stop unless an operator acts; null when all is well. Given long before the token expires. */
  warningOf(accountId: string): string | null;
}

/** The stored tokens of an account; sealed, so that a copy of the database gives no access. */
export interface KeptTokens {
  readonly sealed: Buffer;
  /** The number of saves. */
  readonly revision: number;
  /** The time since the last one, in ms, by the database's clock. */
  readonly ageMs: number;
}

export interface TokenName {
  readonly accountId: string;
  /** Identifies the configured refresh token without revealing it: another one has separate rows. 16 bytes. */
  readonly keyId: Buffer;
}

/** Shared by all processes. All throw `ServiceError` when the database is unavailable. */
export interface TokenStore {
  load(name: TokenName): Promise<KeptTokens | null>;
  /**
   * Claims the right to renew, for `leaseMs`; null when another process has it. A row that does not exist yet begins with
   * revision 0 and nothing sealed.
   */
  lease(name: TokenName, owner: string, leaseMs: number): Promise<KeptTokens | null>;
  /**
   * Keeps the result of a renewal, unless something was saved since `revision`; ends the owner's lease. False: not kept.
   */
  save(name: TokenName, owner: string, revision: number, sealed: Buffer): Promise<boolean>;
  /** Ends a lease without saving anything. */
  release(name: TokenName, owner: string): Promise<void>;
}
