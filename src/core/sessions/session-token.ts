/** The tokens that open a session, and those in links to log in, as text: 32 random bytes each. Only hashes of them are stored. */

export const SESSION_TOKEN_BYTES = 32;

const TOKEN = /^[A-Za-z0-9_-]{43}$/;

/** @param bytes SESSION_TOKEN_BYTES at random */
export const formatSessionToken = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64url');

/** False when it can't be one; whether it opens anything is another question. */
export const isSessionToken = (text: string): boolean => TOKEN.test(text);

/**
 * Where a browser logs in by a link. The token is in the fragment, which browsers send nowhere: no log of a proxy has it.
 *
 * @param url of the service, without a slash at its end
 */
export const formatLoginLink = (url: string, token: string): string => `${url}/#token=${token}`;
