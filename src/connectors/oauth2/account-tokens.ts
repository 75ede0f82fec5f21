/**
 * The OAuth2 tokens of one account. From the first `get` on, the access token is renewed at half of its lifetime, so that a failing renewal
 * is reported long before mail stops.
 *
 * Processes that share a database share the tokens: the one with the lease renews, the others take over the tokens that it kept. A token
 * endpoint may accept a refresh token only once and return another one (Microsoft returns one each time), so the new tokens are kept before
 * anything else, and no refusal is final before both the kept and the configured token were tried.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from '../../platform/base/basics.ts';
import { TokenError, type KeptTokens, type TokenStore } from '../../areas/accounts/token-ports.ts';
import { createSealer, type HeldTokens, type Sealer } from './sealed-tokens.ts';
import type { TokenEndpoint } from './token-endpoint.ts';

export interface OAuth2Account extends TokenEndpoint {
  readonly id: string;
  /** null: it needs none. */
  readonly refreshToken: string | null;
}

export interface AccountTokensOptions {
  /** Throws until a store is set. */
  readonly store: () => TokenStore;
  readonly logger: Logger;
  /** Identifies this process among those that share the store. */
  readonly owner: string;
  /** In ms, by a clock that never goes back. */
  readonly now: () => number;
}

/** Longer than a renewal takes: two requests of 15 s, and the database. */
const LEASE_MS = 60_000;
/** How often to check if the process with the lease is ready, in ms. */
const LEASE_POLL_MS = 250;

/** An access token that expires within this time is no longer handed out, in ms; less for short-lived tokens. */
const MARGIN_MS = 60_000;

/** Delay after a failure: doubled each time up to the second value; the third is for failures that an administrator has to fix. */
const FIRST_BACKOFF_MS = 1000;
const MAX_BACKOFF_MS = 300_000;
const PERMANENT_BACKOFF_MS = 600_000;

/** Delay before another try to keep tokens that could not be kept, in ms. */
const KEEP_AGAIN_MS = 10_000;

/** A younger token that a server refuses would be no better if renewed, in ms. */
const MIN_REJECTED_AGE_MS = 30_000;

export class AccountTokens {
  readonly #account: OAuth2Account;
  readonly #options: AccountTokensOptions;
  readonly #sealer: Sealer;
  #held: HeldTokens | null = null;
  /** The last token that a server refused. */
  #rejected: string | null = null;
  #renewing: Promise<void> | null = null;
  #keeping: Promise<void> | null = null;
  /** Tokens that the store does not have yet. */
  #unkept: HeldTokens | null = null;
  #failure: { readonly error: TokenError; readonly since: number } | null = null;
  #failures = 0;
  #notBefore = -Infinity;
  #timer: NodeJS.Timeout | undefined;
  #keepTimer: NodeJS.Timeout | undefined;
  #closed = false;

  constructor(account: OAuth2Account, options: AccountTokensOptions) {
    this.#account = account;
    this.#options = options;
    this.#sealer = createSealer(account.id, account);
  }

  async get(): Promise<string> {
    if (this.#held !== null && this.#isFresh(this.#held)) return this.#held.accessToken;
    const renewal = this.#startRenewal();
    // Renewed in the background as long as the old token works.
    if (this.#held !== null && this.#isUsable(this.#held)) return this.#held.accessToken;
    await renewal;
    if (this.#held !== null && this.#isUsable(this.#held)) return this.#held.accessToken;
    throw this.#failure?.error ?? new TokenError('there is no OAuth2 token', false);
  }

  reject(token: string): void {
    if (this.#held?.accessToken !== token) return;
    if (this.#now - this.#held.obtainedAt >= MIN_REJECTED_AGE_MS) this.#rejected = token;
  }

  get warning(): string | null {
    if (this.#failure === null) return null;
    const { error, since } = this.#failure;
    const ends =
      this.#held !== null && this.#isUsable(this.#held) ? this.#toDate(this.#held.expiresAt) : null;
    const then = ends === null ? 'mail has stopped' : `mail stops at ${ends.toISOString()}`;
    return `the OAuth2 token can not be renewed since ${this.#toDate(since).toISOString()}, ${then}: ${error.message}`;
  }

  /** Tokens of a renewal under way are kept first. */
  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#timer);
    clearTimeout(this.#keepTimer);
    await this.#renewing;
    await this.#keeping;
    if (this.#unkept === null) return;
    await this.#keep(this.#unkept).catch((err: unknown) =>
      this.#options.logger.error({ accountId: this.#account.id, err }, 'an OAuth2 token could not be stored'),
    );
  }

  /** One at a time, and none before the delay after a failure has passed. Never rejects. */
  #startRenewal(): Promise<void> {
    if (this.#renewing !== null) return this.#renewing;
    if (this.#closed || this.#now < this.#notBefore) return Promise.resolve();
    this.#renewing = this.#renewAndNote().finally(() => {
      this.#renewing = null;
    });
    return this.#renewing;
  }

  async #renewAndNote(): Promise<void> {
    const { id } = this.#account;
    try {
      const held = await this.#renew();
      this.#held = held;
      if (this.#failure !== null)
        this.#options.logger.info({ accountId: id }, 'the OAuth2 token is renewed again');
      this.#failure = null;
      this.#failures = 0;
      this.#notBefore = -Infinity;
      // Not in all processes at the same moment.
      this.#renewIn((halfway(held) - this.#now) * (1 + Math.random() / 10));
    } catch (error) {
      const failure =
        error instanceof TokenError ? error : new TokenError('the renewal failed', false, error);
      this.#options.logger.warn({ accountId: id, err: failure }, 'the OAuth2 token could not be renewed');
      this.#failure = { error: failure, since: this.#failure?.since ?? this.#now };
      const delayMs = failure.permanent
        ? PERMANENT_BACKOFF_MS
        : Math.min(MAX_BACKOFF_MS, FIRST_BACKOFF_MS * 2 ** this.#failures);
      this.#failures += 1;
      this.#notBefore = this.#now + delayMs * (0.8 + Math.random() * 0.2);
      this.#renewIn(delayMs);
    }
  }

  #renewIn(delayMs: number): void {
    clearTimeout(this.#timer);
    if (this.#closed) return;
    this.#timer = setTimeout(() => void this.#startRenewal(), Math.min(Math.max(delayMs, 100), 2 ** 31 - 1));
    this.#timer.unref();
  }

  async #renew(): Promise<HeldTokens> {
    const { store, owner, logger } = this.#options;
    let row: KeptTokens | null = null;
    try {
      const leased = await this.#lease();
      if ('held' in leased) return leased.held;
      row = leased.row;
    } catch (error) {
      if (error instanceof TokenError) throw error;
      // Sending must continue without the database.
      logger.warn(
        { accountId: this.#account.id, err: error },
        'an OAuth2 token is renewed without the database',
      );
    }
    try {
      const kept = row === null ? null : this.#open(row);
      if (kept !== null && this.#isFresh(kept)) return kept;
      const held = await this.#request(this.#refreshTokens(kept));
      await this.#keepNow(held, row);
      return held;
    } catch (error) {
      if (!(error instanceof TokenError) || !error.permanent) throw error;
      const other = await this.#renewedMeanwhile(row, error);
      if (other !== null) return other;
      throw error;
    } finally {
      // A lease that can't be released expires; the lease of another process is left alone.
      if (row !== null)
        await store()
          .release(this.#name, owner)
          .catch(() => {});
    }
  }

  /**
   * The tokens that another process kept although this one had the lease: that process was paused beyond the end of its own lease. It has
   * used up the refresh token that this process was refused for.
   */
  async #renewedMeanwhile(row: KeptTokens | null, refusal: TokenError): Promise<HeldTokens | null> {
    // Another process may have renewed; without the database that is unknown.
    if (row === null) throw new TokenError(refusal.message, false, refusal);
    const now = await this.#options.store().load(this.#name);
    const kept = now === null || now.revision === row.revision ? null : this.#open(now);
    return kept !== null && this.#isUsable(kept) ? kept : null;
  }

  /** The right to renew, or the tokens that another process renewed meanwhile. */
  async #lease(): Promise<{ readonly row: KeptTokens } | { readonly held: HeldTokens }> {
    const { store, owner } = this.#options;
    const deadline = this.#now + LEASE_MS;
    while (!this.#closed && this.#now < deadline) {
      const row = await store().lease(this.#name, owner, LEASE_MS);
      if (row !== null) return { row };
      await sleep(LEASE_POLL_MS);
      const other = await store().load(this.#name);
      const kept = other === null ? null : this.#open(other);
      if (kept !== null && this.#isFresh(kept)) return { held: kept };
    }
    throw new TokenError('another process is renewing the OAuth2 token', false);
  }

  /** The newest first; the configured one last, in case the kept one is from a restored backup. */
  #refreshTokens(kept: HeldTokens | null): readonly (string | null)[] {
    if (this.#account.ownGrant !== null) return [null];
    const known = [this.#held, kept].filter((tokens) => tokens !== null);
    known.sort((a, b) => b.obtainedAt - a.obtainedAt);
    return [...new Set([...known.map(({ refreshToken }) => refreshToken), this.#account.refreshToken])];
  }

  async #request(refreshTokens: readonly (string | null)[]): Promise<HeldTokens> {
    // Most services have no account with OAuth2, and save the memory of its library.
    const { requestTokens } = await import('./token-endpoint.ts');
    let refusal: TokenError | null = null;
    for (const refreshToken of refreshTokens) {
      const obtainedAt = this.#now;
      try {
        const granted = await requestTokens(this.#account, refreshToken);
        return {
          refreshToken: granted.refreshToken ?? refreshToken,
          accessToken: granted.accessToken,
          obtainedAt,
          expiresAt: obtainedAt + granted.lifetimeS * 1000,
        };
      } catch (error) {
        if (!(error instanceof TokenError) || !error.permanent) throw error;
        refusal ??= error;
      }
    }
    throw refusal ?? new TokenError('there is no refresh token', true);
  }

  async #keepNow(held: HeldTokens, row: KeptTokens | null): Promise<void> {
    const { store, owner, logger } = this.#options;
    try {
      if (row === null) throw new Error('the database was away');
      // False: another process has kept newer ones since, which will do.
      await store().save(this.#name, owner, row.revision, this.#sealer.seal(held, this.#now));
      this.#unkept = null;
    } catch (error) {
      logger.warn({ accountId: this.#account.id, err: error }, 'an OAuth2 token is not stored yet');
      this.#keepLater(held);
    }
  }

  #keepLater(held: HeldTokens): void {
    this.#unkept = held;
    clearTimeout(this.#keepTimer);
    if (this.#closed) return;
    this.#keepTimer = setTimeout(() => {
      this.#keeping = this.#keep(held)
        .catch(() => this.#keepLater(held))
        .finally(() => {
          this.#keeping = null;
        });
    }, KEEP_AGAIN_MS);
    this.#keepTimer.unref();
  }

  async #keep(held: HeldTokens): Promise<void> {
    const { store, owner } = this.#options;
    const row = await store().lease(this.#name, owner, LEASE_MS);
    if (row === null) throw new Error('another process is renewing');
    const kept = this.#open(row);
    if (kept !== null && kept.obtainedAt >= held.obtainedAt) await store().release(this.#name, owner);
    else await store().save(this.#name, owner, row.revision, this.#sealer.seal(held, this.#now));
    if (this.#unkept === held) this.#unkept = null;
  }

  get #now(): number {
    return this.#options.now();
  }

  /** For people. */
  #toDate(at: number): Date {
    return new Date(Date.now() + at - this.#now);
  }

  #open({ sealed, ageMs }: KeptTokens): HeldTokens | null {
    return this.#sealer.open(sealed, this.#now - ageMs);
  }

  get #name() {
    return { accountId: this.#account.id, keyId: this.#sealer.keyId };
  }

  #isUsable({ accessToken, obtainedAt, expiresAt }: HeldTokens): boolean {
    const margin = Math.min(MARGIN_MS, (expiresAt - obtainedAt) / 10);
    return accessToken !== this.#rejected && this.#now < expiresAt - margin;
  }

  #isFresh(tokens: HeldTokens): boolean {
    return this.#isUsable(tokens) && this.#now < halfway(tokens);
  }
}

function halfway({ obtainedAt, expiresAt }: HeldTokens): number {
  return (obtainedAt + expiresAt) / 2;
}
