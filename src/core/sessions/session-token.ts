/** The tokens of sessions and of log-in links, as text: 32 random bytes each. Only hashes of them are stored. */

export const SESSION_TOKEN_BYTES = 32;

const TOKEN = /^[A-Za-z0-9_-]{43}$/;

/** @param bytes SESSION_TOKEN_BYTES at random */
export const formatSessionToken = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64url');

/** False when the text can't be a token. A well-formed token need not be valid. */
export const isSessionToken = (text: string): boolean => TOKEN.test(text);

/**
 * The link by which a browser logs in. The token is in the fragment, which browsers never send: no proxy logs it.
 *
 * @param url of the service, without a slash at its end
 */
export const formatLoginLink = (url: string, token: string): string => `${url}/#token=${token}`;
