/** Asks the owner of a mailbox for the consent that replaces a password, and takes it when the provider sends the owner back. */
import { isDeepStrictEqual } from 'node:util';
import type { ErrorCode } from '../../core/error-registry.ts';
import { invalidRequest, ServiceError } from '../../core/errors.ts';
import type { Logger } from '../../platform/base/basics.ts';
import type { SecurityLog } from '../../platform/base/security-log.ts';
import type { AccountSealer } from './account-ports.ts';
import {
  ConsentError,
  type ConsentClient,
  type ConsentFailure,
  type ConsentLink,
  type ConsentPort,
} from './consent-ports.ts';
import type { ConsentStore } from './consent-store.ts';
import type { ManagedAccounts } from './manage-accounts.ts';

/** Long enough for a link that is sent to the owner by mail, in ms. */
const LIFETIME_MS = 86_400_000;
export const CONSENT_PATH = '/oauth2/callback';

export interface AccountConsentsPorts {
  readonly store: ConsentStore;
  readonly sealer: AccountSealer;
  readonly accounts: Pick<ManagedAccounts, 'consentClient' | 'connect'>;
  readonly port: ConsentPort;
  /** Where browsers reach the service, without a slash at its end; null: it is not configured. */
  readonly publicUrl: string | null;
  /** Origins to which the owner may be sent at the end, besides that of `publicUrl`. */
  readonly returnOrigins: readonly string[];
  readonly logger: Logger;
  readonly security: SecurityLog;
}

/** What is kept, sealed, while a consent is asked for. */
interface Asked {
  readonly link: Pick<ConsentLink, 'state' | 'verifier' | 'nonce'>;
  /** Without the secret: who asked, for what. The consent counts for nothing else. */
  readonly client: Omit<ConsentClient, 'clientSecret'>;
}

/** `unknown`: the link was used, has ended, or was replaced by a newer one. `changed`: the account is another one now. */
export type ConsentOutcome = 'given' | ConsentFailure | 'unknown' | 'changed';

export interface AnsweredConsent {
  readonly outcome: ConsentOutcome;
  /** null when it is unknown. */
  readonly accountId: string | null;
  readonly returnUrl: string | null;
}

const UNKNOWN: AnsweredConsent = { outcome: 'unknown', accountId: null, returnUrl: null };

export type AccountConsents = ReturnType<typeof createAccountConsents>;

export function createAccountConsents(ports: AccountConsentsPorts) {
  const { store, sealer, accounts, port, publicUrl, returnOrigins, logger, security } = ports;

  function checkReturnUrl(base: string, text: string): string {
    const url = URL.canParse(text) ? new URL(text) : null;
    const isKnown = url !== null && [new URL(base).origin, ...returnOrigins].includes(url.origin);
    // Nor with a user, nor `blob:`, which has the origin of what comes after it.
    if (!isKnown || !url.href.startsWith(`${url.origin}/`))
      throw invalidRequest('foreign_origin', { field: 'return_url' });
    return url.href;
  }

  async function finish(accountId: string, asked: Asked, answer: URLSearchParams): Promise<ConsentOutcome> {
    const { client } = await accounts.consentClient(accountId);
    if (client === null || publicUrl === null || !isDeepStrictEqual(withoutSecret(client), asked.client))
      return 'changed';
    const grant = await port.finish(client, asked.link, publicUrl + CONSENT_PATH, answer);
    const isConnected = await accounts.connect(accountId, grant, (now) =>
      isDeepStrictEqual(withoutSecret(now), asked.client),
    );
    return isConnected ? 'given' : 'changed';
  }

  return {
    /**
     * A link for the owner of the mailbox. Throws `account_not_found`, `account_declared`, `consent_unavailable`, `provider_unavailable`, `invalid_request`,
     * `secrets_key_missing`.
     */
    async ask(accountId: string, returnUrl: string | null) {
      const { client, reason } = await accounts.consentClient(accountId);
      if (publicUrl === null) throw unavailable('PUBLIC_URL is not configured');
      if (client === null) throw unavailable(reason);
      const target = returnUrl === null ? null : checkReturnUrl(publicUrl, returnUrl);
      const { url, ...link } = await port.begin(client, publicUrl + CONSENT_PATH).catch((error: unknown) => {
        if (!(error instanceof ConsentError)) throw error;
        throw error.isTemporary
          ? new ServiceError('provider_unavailable', { details: error.message, cause: error })
          : unavailable(error.message);
      });
      const asked: Asked = { link, client: withoutSecret(client) };
      const { sealed } = await sealer.seal(sealName(accountId), JSON.stringify(asked));
      const expiresAt = await store.ask(link.state, { accountId, sealed, returnUrl: target }, LIFETIME_MS);
      if (expiresAt === null) throw new ServiceError('account_not_found');
      return { url, expiresAt };
    },

    /** Throws `database_unavailable`. @param answer the parameters with which the provider sent the owner back */
    async answer(answer: URLSearchParams): Promise<AnsweredConsent> {
      const kept = await store.take(answer.get('state') ?? '');
      if (kept === null) return UNKNOWN;
      const { accountId, returnUrl } = kept;
      await sealer.reread();
      const text = sealer.open(sealName(accountId), kept.sealed);
      if (text === null) return { accountId, returnUrl, outcome: 'unknown' };
      let outcome: ConsentOutcome;
      try {
        // The text was authenticated, so `ask` wrote it.
        outcome = await finish(accountId, JSON.parse(text) as Asked, answer);
      } catch (error) {
        if (error instanceof ConsentError) {
          outcome = error.kind;
          logger.warn({ accountId, err: error }, 'the owner of a mailbox did not consent');
        } else if (error instanceof ServiceError && OTHER_ACCOUNT.has(error.code)) {
          outcome = 'changed';
        } else if (error instanceof ServiceError && !error.temporary) {
          outcome = 'failed';
          logger.error({ accountId, err: error, details: error.details }, 'a consent could not be stored');
        } else throw error;
      }
      security.note(outcome === 'given' ? 'account.consent_given' : 'account.consent_refused', {
        accountId,
        outcome,
      });
      return { accountId, returnUrl, outcome };
    },
  };
}

/** The account was deleted, came into the configuration, or was changed too often at the same moment. */
const OTHER_ACCOUNT: ReadonlySet<ErrorCode> = new Set([
  'account_not_found',
  'account_declared',
  'account_changed',
]);

/** What was sealed for a consent never opens as the secrets of an account. */
const sealName = (accountId: string): string => `consent:${accountId}`;

const withoutSecret = ({ clientSecret: _secret, ...client }: ConsentClient) => client;

const unavailable = (details: string): ServiceError => new ServiceError('consent_unavailable', { details });
