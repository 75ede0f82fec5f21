/** A part of the composition root: the OAuth2 tokens of the accounts that use them. */
import type { OAuth2Account } from '../connectors/oauth2/account-tokens.ts';
import type { OAuth2Config } from '../config/config-oauth.ts';
import type { AccountConfig } from '../config/config-accounts.ts';

/** The owner of the mailboxes has to consent before there are tokens. */
export const awaitsConsent = ({ refreshToken, ownGrant }: OAuth2Config): boolean =>
  refreshToken === null && ownGrant === null;

export const tokenAccounts = (accounts: readonly AccountConfig[]): readonly OAuth2Account[] =>
  accounts.flatMap(({ id, oauth2 }) => {
    if (oauth2 === null) return [];
    const { consent: _consent, tokenUrl, refreshToken, ...account } = oauth2;
    return tokenUrl === null || awaitsConsent(oauth2) ? [] : [{ id, ...account, tokenUrl, refreshToken }];
  });
