/** Tells whether two sends ask for the same: the fingerprint that is stored with an idempotency key. */
import { createHash } from 'node:crypto';
import type { SendRequest } from './use-cases.ts';
import { sha256 } from '../files/content.ts';

interface FingerprintPorts {
  readonly openFile: (path: string) => AsyncIterable<Buffer>;
}

/** How to answer, not what to send: a caller that waited in vain may repeat its request as an asynchronous one. */
const NOT_COMPARED: ReadonlySet<string> = new Set(['respondAsync']);

/**
 * SHA-256 over the fields as they were understood, so that white space, key order and the way attachments were encoded
 * make no difference, and neither do fields of a later version that the request leaves out.
 */
export async function fingerprintSend(
  ports: FingerprintPorts,
  { attachments, ...fields }: SendRequest,
): Promise<Buffer> {
  const files: (string | null)[][] = [];
  for (const { filename, contentType, content } of attachments) {
    files.push([filename, contentType, await sha256(ports, content)]);
  }
  const given = Object.entries({ ...fields, attachments: files })
    .filter(([field, value]) => !NOT_COMPARED.has(field) && !isAbsent(value))
    .sort(([a], [b]) => (a < b ? -1 : 1));
  return createHash('sha256').update(JSON.stringify(given)).digest();
}

function isAbsent(value: unknown): boolean {
  return value === null || (Array.isArray(value) && value.length === 0);
}
