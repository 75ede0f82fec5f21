/** `WebhookSealer`: uses a key derived from API_SECRET, which every process of a database has; see platform/base/sealing.ts. */
import { createSeal } from '../../platform/base/sealing.ts';
import type { WebhookSealer, WebhookSecrets } from '../../areas/webhooks/webhook-ports.ts';

interface Stored {
  readonly secrets: readonly { readonly secret: string; readonly until: string | null }[];
  readonly headers: Readonly<Record<string, string>>;
}

/** @param apiSecrets the first one seals, any of them opens */
export function createWebhookSealer(apiSecrets: readonly string[]): WebhookSealer {
  const seals = apiSecrets.map((secret) => createSeal(secret, 'webhooks'));
  const [newest] = seals;
  if (newest === undefined) throw new TypeError('there is no secret to seal with');

  return {
    keyIds: seals.map(({ keyId }) => keyId),
    seal(webhookId, { secrets, headers }) {
      const stored: Stored = {
        secrets: secrets.map(({ secret, until }) => ({ secret, until: until?.toISOString() ?? null })),
        headers,
      };
      return { sealed: newest.seal(JSON.stringify(stored), webhookId), keyId: newest.keyId };
    },
    open(webhookId, sealed): WebhookSecrets | null {
      const text = seals.map((seal) => seal.open(sealed, webhookId)).find((opened) => opened !== null);
      if (text === undefined || text === null) return null;
      // The text was authenticated, so `seal` wrote it.
      const { secrets, headers } = JSON.parse(text) as Stored;
      return {
        secrets: secrets.map(({ secret, until }) => ({
          secret,
          until: until === null ? null : new Date(until),
        })),
        headers,
      };
    },
  };
}
