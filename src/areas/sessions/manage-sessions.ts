/** Opens and ends sessions. Each gets a new token, whatever the browser sent before: no token can be planted. */
import { ServiceError } from '../../core/errors.ts';
import { parseApiKey } from '../../core/keys/api-key.ts';
import {
  formatSessionToken,
  isSessionToken,
  SESSION_TOKEN_BYTES,
} from '../../core/sessions/session-token.ts';
import type { IdSource } from '../../platform/base/basics.ts';
import { hashSecret } from '../../platform/access/hash-secret.ts';
import type { KeyRing, ShownKey } from '../../platform/access/key-ring.ts';
import { createSecretMatcher } from '../../platform/access/secret-holders.ts';
import { LinkLookup } from './link-lookup.ts';
import type { SessionBase, SessionBrowser, SessionStore } from '../../platform/access/session-ports.ts';
import {
  bindingOf,
  credentialOfSecret,
  hashToken,
  SessionRing,
  type SessionRingPorts,
} from './session-ring.ts';
import type { OpenedSession, SessionUseCases } from '../../platform/access/session-use-cases.ts';

export interface SessionPorts extends SessionRingPorts {
  readonly store: SessionStore;
  readonly keys: Pick<KeyRing, 'find' | 'findByHash' | 'refresh'>;
  readonly ids: Pick<IdSource, 'randomBytes' | 'uuid'>;
  /** The maximum life of a session, however much it is used. */
  readonly maxMs: number;
}

export function createSessions(ports: SessionPorts): SessionUseCases & Pick<SessionRing, 'close'> {
  const { store, keys, secrets, now, ids, idleMs, maxMs } = ports;
  const ring = new SessionRing(ports);
  const secretOf = createSecretMatcher(secrets);
  const links = new LinkLookup(() => store.readLinks(), now);

  /** null when the link was used meanwhile. */
  async function open(
    shown: ShownKey,
    browser: SessionBrowser,
    toBase: (token: string) => SessionBase,
    link: Buffer | null,
  ): Promise<OpenedSession | null> {
    const token = formatSessionToken(ids.randomBytes(SESSION_TOKEN_BYTES));
    const asked = {
      ...toBase(token),
      id: ids.uuid(),
      device: browser.device,
      binding: bindingOf(token, browser),
      digest: hashToken(token),
      idleMs,
      maxMs,
    };
    const session = await store.open(asked, link);
    if (session === null) return null;
    ring.expire();
    return { token, shown, session, maxMs };
  }

  const baseOfSecret = (secret: string) => (token: string) => ({
    keyId: null,
    credential: credentialOfSecret(secret, token),
  });

  return {
    async openBySecret(secret, browser) {
      const holder = secretOf(Buffer.from(secret, 'utf8'));
      if (holder !== null) return open(holder, browser, baseOfSecret(holder.secret), null);
      const key = parseApiKey(secret);
      const shown = key === null ? null : await keys.find(secret);
      if (key === null || shown === null) return null;
      return open(shown, browser, () => ({ keyId: key.id, credential: hashSecret(key.secret) }), null);
    },

    async openByLink(token, browser) {
      if (!isSessionToken(token)) return null;
      const digest = hashToken(token);
      const link = await links.find(digest);
      if (link === null) return null;
      const shown = await ring.holderOf(token, link);
      if (shown === null) return null;
      const secret = secrets.find(({ caller }) => caller === shown.caller)?.secret;
      return open(shown, browser, secret === undefined ? () => link : baseOfSecret(secret), digest);
    },

    find: (token, browser) => ring.find(token, browser),
    refresh: () => ring.refresh(),

    async end({ digest }) {
      await store.end(digest);
      ring.expire();
    },

    async listOf(shown) {
      const sessions = await ring.listOf(keyIdOf(shown));
      return [...sessions].sort((a, b) => b.lastUsedAt.getTime() - a.lastUsedAt.getTime());
    },

    async endOneOf(shown, id) {
      const session = (await ring.listOf(keyIdOf(shown))).find((one) => one.id === id);
      if (session === undefined) throw new ServiceError('session_not_found');
      await store.end(session.digest);
      ring.expire();
    },

    async endAllOf(shown) {
      const ended = await store.endAll(keyIdOf(shown));
      ring.expire();
      return ended;
    },

    close: () => ring.close(),
  };
}

/** null: a secret. */
const keyIdOf = ({ caller: { author } }: ShownKey): string | null =>
  author.kind === 'key' ? author.id : null;
