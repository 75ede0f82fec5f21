/**
 * Reads Authentication-Results (RFC 8601) of the servers that an account trusts. Any sender can write such a field into an
 * email, so only fields that a trusted server put on top count: the topmost field of each, and nothing below a field of
 * another server or a second one of its own.
 */
import type { HeaderField } from '../mime/parse/header-fields.ts';
import { toOutcome, type AuthOutcome, type AuthResults } from './authentication.ts';

/** Trusts the topmost field whatever its name is: Microsoft's servers write none. */
export const ANY_SERVER = '*';

/** All ours: real emails have one to four fields of up to 2000 characters. */
const MAX_FIELDS = 10;
const MAX_FIELD_CHARS = 10_000;
const MAX_RESULTS = 50;

interface Result {
  readonly method: string;
  readonly outcome: AuthOutcome;
  /** Keyed by `ptype.property`, lower-case. */
  readonly properties: ReadonlyMap<string, string>;
}

/** @param trusted names of servers (authserv-id), lower-case, or ANY_SERVER. null when none of them reports anything */
export function readAuthenticationResults(
  fields: readonly HeaderField[],
  trusted: readonly string[],
): AuthResults | null {
  if (trusted.length === 0) return null;
  const used = new Set<string>();
  const results: Result[] = [];
  for (const { value } of fields
    .filter(({ name }) => name === 'authentication-results')
    .slice(0, MAX_FIELDS)) {
    const { server, parts } = divide(value.slice(0, MAX_FIELD_CHARS));
    const isTrusted = trusted.includes(server) || (trusted.includes(ANY_SERVER) && used.size === 0);
    if (!isTrusted || used.has(server)) break;
    used.add(server);
    for (const part of parts) {
      const result = readResult(part);
      if (result !== null && results.length < MAX_RESULTS) results.push(result);
    }
  }
  return results.length === 0 ? null : toResults(results);
}

/** The name before the first semicolon, empty when there is none, and the parts after it. */
function divide(value: string): { readonly server: string; readonly parts: readonly string[] } {
  const [first = '', ...others] = withoutComments(value);
  if (first.includes('=')) return { server: '', parts: [first, ...others] };
  // A version may follow the name.
  const [name = ''] = first.trim().split(/\s+/, 1);
  return { server: name.replaceAll('"', '').toLowerCase(), parts: others };
}

/** Divided at semicolons, without comments (RFC 5322 §3.2.2). */
function withoutComments(value: string): readonly string[] {
  const parts: string[] = [];
  let part = '';
  let depth = 0;
  let isQuoted = false;
  for (let at = 0; at < value.length; at++) {
    const character = value.charAt(at);
    if (character === '\\' && (isQuoted || depth > 0)) {
      at++;
      if (isQuoted) part += value.charAt(at);
    } else if (isQuoted || (depth === 0 && character === '"')) {
      if (character === '"') isQuoted = !isQuoted;
      part += character;
    } else if (character === '(') depth++;
    else if (character === ')') {
      depth = Math.max(0, depth - 1);
      part += ' ';
    } else if (depth > 0) continue;
    else if (character === ';') {
      parts.push(part);
      part = '';
    } else part += character;
  }
  return [...parts, part];
}

const METHOD = /^\s*([a-z0-9-]{1,20})\s*(?:\/\s*\d{1,5}\s*)?=\s*([a-z]{1,20})(?![a-z0-9])/i;
const PROPERTY = /([a-z]{1,20})\.([a-z0-9_-]{1,40})\s*=\s*(?:"([^"]{0,320})"|([^\s";]{1,320}))/gi;

function readResult(part: string): Result | null {
  const [, method, outcome] = METHOD.exec(part) ?? [];
  if (method === undefined || outcome === undefined) return null;
  const properties = new Map<string, string>();
  for (const [, type = '', name = '', quoted, plain = ''] of part.matchAll(PROPERTY)) {
    const key = `${type}.${name}`.toLowerCase();
    if (!properties.has(key)) properties.set(key, quoted ?? plain);
  }
  return { method: method.toLowerCase(), outcome: toOutcome(outcome), properties };
}

function toResults(results: readonly Result[]): AuthResults {
  const of = (method: string) => results.find((result) => result.method === method);
  const spf = of('spf');
  const dmarc = of('dmarc');
  return {
    spf:
      spf === undefined
        ? null
        : { result: spf.outcome, domain: domainIn(spf, 'smtp.mailfrom') ?? domainIn(spf, 'smtp.helo') },
    dkim: results
      .filter(({ method }) => method === 'dkim')
      .map((result) => ({
        result: result.outcome,
        domain: domainIn(result, 'header.d') ?? domainIn(result, 'header.i'),
        selector: result.properties.get('header.s')?.slice(0, 63) ?? null,
      })),
    dmarc: dmarc === undefined ? null : { result: dmarc.outcome, domain: domainIn(dmarc, 'header.from') },
    arc: of('arc')?.outcome ?? null,
  };
}

/** The domain in a property that is an address or a domain. */
function domainIn({ properties }: Result, name: string): string | null {
  const value = properties.get(name);
  if (value === undefined) return null;
  const domain = value.slice(value.lastIndexOf('@') + 1).toLowerCase();
  return /^[^\s@<>]{1,253}$/.test(domain) ? domain : null;
}
