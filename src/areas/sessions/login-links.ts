/** Links to log in: valid once, and for an hour. */
import { formatSessionToken, SESSION_TOKEN_BYTES } from '../../core/sessions/session-token.ts';
import type { IdSource } from '../../platform/base/basics.ts';
import type { SessionStore } from '../../platform/access/session-ports.ts';
import { credentialOfSecret, hashToken } from './session-ring.ts';

/** Long enough to go to another machine, short enough for a line in a log. */
export const LINK_MS = 3_600_000;

export interface LinkPorts {
  readonly store: Pick<SessionStore, 'createLink'>;
  readonly ids: Pick<IdSource, 'randomBytes'>;
}

/** The holder of the session that the link opens: a secret, or a key by the hash of its secret. */
export type LinkHolder =
  | { readonly kind: 'secret'; readonly secret: string }
  | { readonly kind: 'key'; readonly id: string; readonly hash: Buffer };

/** Returns the token of the link. Throws `database_unavailable`. */
export async function createLoginLink({ store, ids }: LinkPorts, holder: LinkHolder): Promise<string> {
  const token = formatSessionToken(ids.randomBytes(SESSION_TOKEN_BYTES));
  await store.createLink({
    digest: hashToken(token),
    keyId: holder.kind === 'key' ? holder.id : null,
    credential: holder.kind === 'key' ? holder.hash : credentialOfSecret(holder.secret, token),
    lifeMs: LINK_MS,
  });
  return token;
}
