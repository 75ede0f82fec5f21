/** The header fields that the owner of a webhook adds to its requests, such as Authorization. */
import { ServiceError } from '../errors.ts';

export const MAX_HEADERS = 20;
/** A value, in characters; tokens of 4 kB are seen in practice. */
export const MAX_HEADER_CHARS = 4096;

/** RFC 9110 §5.6.2 */
const NAME = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]{1,64}$/;
/** RFC 9110 §5.5, without obsolete forms: no character ends the field. */
const VALUE = /^[\x21-\x7e](?:[\t\x20-\x7e]*[\x21-\x7e])?$/;

/** Fields that frame the request, determine its destination, or are ours. */
const RESERVED = new Set([
  'accept-encoding',
  'connection',
  'content-encoding',
  'content-length',
  'content-type',
  'date',
  'expect',
  'host',
  'keep-alive',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'user-agent',
]);
const RESERVED_BEGINNINGS = ['webhook-', 'proxy-', 'sec-'];

/** Throws `invalid_webhook_header`; its text contains the name, never the value. */
export function checkOwnHeaders(headers: Readonly<Record<string, string>>): void {
  const seen = new Set<string>();
  for (const [name, value] of Object.entries(headers)) {
    const key = name.toLowerCase();
    const isReserved = RESERVED.has(key) || RESERVED_BEGINNINGS.some((start) => key.startsWith(start));
    const isGood = NAME.test(name) && VALUE.test(value) && value.length <= MAX_HEADER_CHARS;
    if (isReserved || !isGood || seen.has(key)) {
      throw new ServiceError('invalid_webhook_header', { values: { field: name } });
    }
    seen.add(key);
  }
}
