/** `email-worker-client/webhooks`: for programs that receive webhooks. A separate module, as browsers have no use for it. */
import { Webhook, WebhookVerificationError } from 'standardwebhooks';
import { EmailWorkerError } from './errors.ts';
import type { Event } from './types.ts';

/** The headers of a request: `Headers`, or an object as Node.js provides it; names in any case. */
export type WebhookHeaders = Headers | Readonly<Record<string, string | readonly string[] | undefined>>;

/** An event as in the feed; a webhook with thin payloads leaves out `data`. */
export type WebhookEvent = Omit<Event, 'data'> & { readonly data?: Event['data'] };

const HEADERS = ['webhook-id', 'webhook-timestamp', 'webhook-signature'] as const;

/**
 * The event in a request to a webhook, once its signature and time are verified (Standard Webhooks 1.0.0): signed with the secret at most
 * five minutes ago. The same event can arrive more than once: its `id` stays the same.
 *
 * @param body the bytes of the request as they arrived, or their text: JSON that was parsed and written again has other bytes
 * @param secrets `whsec_…`, as received when the webhook was made; several while they are rotated
 * @throws EmailWorkerError `webhook_not_verified` when the request is not from the service, was changed, or is too old: answer it with 400
 * @throws TypeError when a secret does not have the form `whsec_…`
 */
export function verifyWebhook(
  body: string | Uint8Array,
  headers: WebhookHeaders,
  secrets: string | readonly string[],
): WebhookEvent {
  const verifiers = (typeof secrets === 'string' ? [secrets] : secrets).map(toVerifier);
  if (verifiers.length === 0) throw new TypeError('verifyWebhook needs a secret');
  const signed = readHeaders(headers);
  let failure: unknown;
  for (const verifier of verifiers) {
    try {
      return verifier.verify(typeof body === 'string' ? body : decode(body), signed) as WebhookEvent;
    } catch (error) {
      failure = error;
    }
  }
  throw notVerified(failure);
}

function toVerifier(secret: string): Webhook {
  try {
    return new Webhook(secret);
  } catch {
    // Without the cause: it might reveal the secret.
    throw new TypeError('a secret of a webhook is whsec_ and Base64');
  }
}

function decode(bytes: Uint8Array): string {
  try {
    // A byte order mark at the beginning is signed too.
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new WebhookVerificationError('The body is not UTF-8');
  }
}

function notVerified(cause: unknown): EmailWorkerError {
  const why = cause instanceof Error ? cause.message : String(cause);
  const text = `The webhook is not verified: ${why}`;
  return new EmailWorkerError({ code: 'webhook_not_verified', text, cause }, null);
}

function readHeaders(headers: WebhookHeaders): Record<string, string> {
  const read: Record<string, string> = {};
  if (headers instanceof Headers) {
    for (const name of HEADERS) read[name] = headers.get(name) ?? '';
  } else {
    for (const [name, value] of Object.entries(headers)) {
      const wanted = HEADERS.find((header) => header === name.toLowerCase());
      const one = typeof value === 'string' || value === undefined ? value : value.join(' ');
      if (wanted !== undefined && one !== undefined) read[wanted] = one;
    }
  }
  return read;
}
