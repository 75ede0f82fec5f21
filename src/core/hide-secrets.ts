/**
 * Takes secrets out of a text that may hold addresses (RFC 3986), for logs. Messages of libraries quote the address that they could not use:
 * of a database, a mail server, a storage or a webhook. This is the last line; what is known to be secret is never given to a log.
 */

/** User and password, as in `postgres://user:password@host`. No quote or backslash is in a valid one. */
const USER_INFO = /(:\/\/)[^\s"'\\/?#]{1,1000}@/g;

/** Parameters of a query or a fragment whose value opens something; those of S3 begin with `X-Amz-`. */
const PARAMETER =
  /([?&](?:[a-z_]*token|[a-z_]*secret|[a-z_]*password|pass|api_?key|auth|authorization|signature|sig|code|x-amz-[a-z-]+)=)[^\s"'\\&#]+/gi;

/** A key of the API; its id is no secret. See core/keys/api-key.ts. */
const API_KEY = /\b(ewk_[0-9a-z]{12}_)[A-Za-z0-9_-]+/g;

export function hideSecrets(text: string): string {
  return text.replace(USER_INFO, '$1…@').replace(PARAMETER, '$1…').replace(API_KEY, '$1…');
}
