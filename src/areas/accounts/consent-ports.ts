/** The consent of a mailbox's owner to OAuth2, and where it is kept while it is asked for. */

/** Whose page asks for the consent. */
export type ConsentProvider =
  | { readonly kind: 'google' }
  /** The tenant: an identifier, a domain, or one of `common`, `organizations` and `consumers`. */
  | { readonly kind: 'microsoft'; readonly tenant: string }
  /** Any OpenID provider, by its issuer (OpenID Connect Discovery). */
  | { readonly kind: 'issuer'; readonly issuer: string };

/** Who asks, for what. */
export interface ConsentClient {
  readonly provider: ConsentProvider;
  readonly clientId: string;
  /** null: a public client. */
  readonly clientSecret: string | null;
  /** null: that of the provider. */
  readonly scope: string | null;
  /** Users of the mail servers, in lower case: the owner must be one of them. */
  readonly users: readonly string[];
  /** Hosts that get the tokens. */
  readonly servers: readonly string[];
}

/** A link that was given out. */
export interface ConsentLink {
  readonly url: string;
  /** 32 random bytes in base64url, which identify the response. */
  readonly state: string;
  /** RFC 7636. */
  readonly verifier: string;
  /** OpenID Connect Core §3.1.2.1. */
  readonly nonce: string;
}

export interface ConsentGrant {
  readonly refreshToken: string;
  readonly tokenUrl: string;
}

/** `denied`: the owner refused. `other_address`: another user consented. `failed`: the provider gave no valid response. */
export type ConsentFailure = 'denied' | 'other_address' | 'failed';

export class ConsentError extends Error {
  override readonly name = 'ConsentError';
  readonly kind: ConsentFailure;
  /** It may work later. */
  readonly isTemporary: boolean;

  /** `message`: English, for the operator; never holds a secret. */
  constructor(kind: ConsentFailure, message: string, cause?: unknown, isTemporary = false) {
    super(message, cause === undefined ? undefined : { cause });
    this.kind = kind;
    this.isTemporary = isTemporary;
  }
}

/** Talks to providers. Both throw `ConsentError`. */
export interface ConsentPort {
  begin(client: ConsentClient, redirectUrl: string): Promise<ConsentLink>;
  /** @param answer the parameters with which the provider sent the owner back */
  finish(
    client: ConsentClient,
    link: Omit<ConsentLink, 'url'>,
    redirectUrl: string,
    answer: URLSearchParams,
  ): Promise<ConsentGrant>;
}
