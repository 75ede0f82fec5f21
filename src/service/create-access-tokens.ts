/** A part of the composition root: the OAuth2 tokens of the accounts that use them. */
import { createAccessTokens, type OAuth2Tokens } from '../adapters/oauth2/access-tokens.ts';
import type { Logger } from '../app/base/basics.ts';
import type { Config } from '../config/config.ts';

/** Connects to no endpoint yet. */
export function createTokens(config: Pick<Config, 'accounts'>, logger: Logger): OAuth2Tokens {
  return createAccessTokens(
    config.accounts.flatMap(({ id, oauth2 }) => (oauth2 === null ? [] : [{ id, ...oauth2 }])),
    logger,
  );
}
