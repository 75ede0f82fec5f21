/** A part of the composition root: the OAuth2 tokens of the accounts that use them. */
import type { OAuth2Account } from '../connectors/oauth2/account-tokens.ts';
import type { AccountConfig } from '../config/config-accounts.ts';

export const tokenAccounts = (accounts: readonly AccountConfig[]): readonly OAuth2Account[] =>
  accounts.flatMap(({ id, oauth2 }) => (oauth2 === null ? [] : [{ id, ...oauth2 }]));
