/** For accounts that log in with passwords. */
import type { AccessTokens } from '../../src/areas/accounts/token-ports.ts';

export const NO_TOKENS: AccessTokens = {
  get: () => Promise.reject(new Error('no account has a token here')),
  reject: () => {},
  warningOf: () => null,
};
