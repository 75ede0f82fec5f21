/** Decides if two sends request the same: the fingerprint that is stored with an idempotency key. */
import { createHash } from 'node:crypto';
import type { SendRequest } from './use-cases.ts';
import { isReference } from './take-references.ts';
import { sha256 } from '../../platform/files/content.ts';

interface FingerprintPorts {
  readonly openFile: (path: string) => AsyncIterable<Buffer>;
}

/** The fields of a request, whatever they are besides its files. */
type AskedFor = Pick<SendRequest, 'attachments'> & object;

/**
 * These fields concern the answer, the caller and the moment, not the email: a caller that waited in vain may repeat its
 * request as an asynchronous one, with another key, and after it has read the thread again.
 */
const NOT_COMPARED: ReadonlySet<string> = new Set([
  'respondAsync',
  'authorKeyId',
  'authorName',
  'isByPerson',
  'ifNewest',
]);

/**
 * SHA-256 over the fields as they were parsed, so that white space, key order and the encoding of attachments make no
 * difference, and neither do fields of a later version that the request leaves out.
 */
export async function fingerprintSend(
  ports: FingerprintPorts,
  { attachments, ...fields }: AskedFor,
): Promise<Buffer> {
  const files: (string | null)[][] = [];
  for (const { filename, contentType, content, contentId = null } of attachments) {
    const named = contentId === null ? [] : [contentId];
    // A file given by reference counts by its reference: the file may be gone when the request is repeated.
    const file = isReference(content) ? `${content.kind}:${content.id}` : await sha256(ports, content);
    files.push([filename, contentType, file, ...named]);
  }
  const given = Object.entries({ ...fields, attachments: files })
    .filter(([field, value]) => !NOT_COMPARED.has(field) && !isAbsent(value))
    .sort(byKey);
  return createHash('sha256').update(JSON.stringify(given, sortKeys)).digest();
}

/** The order of the keys of headers and metadata has no meaning. */
function sortKeys(_key: string, value: unknown): unknown {
  return isObject(value) ? Object.fromEntries(Object.entries(value).sort(byKey)) : value;
}

const byKey = ([a]: readonly [string, unknown], [b]: readonly [string, unknown]) => (a < b ? -1 : 1);

const isObject = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function isAbsent(value: unknown): boolean {
  if (value instanceof Date) return false;
  return value === null || (typeof value === 'object' && Object.keys(value).length === 0);
}
