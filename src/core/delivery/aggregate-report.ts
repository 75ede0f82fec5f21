/**
 * Reads the statistics that other mail servers send about mail of a domain: DMARC aggregate reports (RFC 7489 appendix C) and SMTP TLS
 * reports (RFC 8460 §4). What they say is their sender's word. XML has no entities of its own here, and what is packed is unpacked to
 * MAX_AGGREGATE_BYTES at most.
 */
import { gunzipSync, inflateRawSync } from 'node:zlib';
import { Parser } from 'htmlparser2';
import type { ParsedMessage } from '../mime/parse/parsed-message.ts';

/** Unpacked, in bytes. Our choice: real ones of large senders have some hundred kB. */
const MAX_AGGREGATE_BYTES = 10_000_000;
/** Rows with a source that are kept of one report, and as many without. Real ones have up to some hundred. */
const MAX_AGGREGATE_COUNTS = 1000;

export interface AggregateCount {
  /** Whose mail it is, lower-case. */
  readonly domain: string;
  /** The address of the mail server that sent it; null: not told. */
  readonly source: string | null;
  /** DMARC: `pass` or `fail`. TLS: `pass`, `fail`, or the type of the failure, such as `certificate-expired`. */
  readonly result: string;
  /** Emails, or with TLS sessions. */
  readonly messages: number;
}

export interface AggregateReport {
  readonly kind: 'dmarc' | 'tls';
  /** Who sent it, as written; null: not told. */
  readonly reporter: string | null;
  /** Its sender gives it once; null: not told. */
  readonly id: string | null;
  /** Each domain, source and result once. */
  readonly counts: readonly AggregateCount[];
}

/** The first report in a message; null when there is none that can be read. */
export function readAggregateReport({ reports }: Pick<ParsedMessage, 'reports'>): AggregateReport | null {
  for (const { bytes } of reports) {
    const text = unpack(Buffer.from(bytes))?.toString('utf8').trimStart();
    const report =
      text?.startsWith('{') === true ? readTls(text) : text?.startsWith('<') ? readDmarc(text) : null;
    if (report !== null) return report;
  }
  return null;
}

const GZIP = 0x1f8b;
const ZIP = 0x504b0304;

/** null when it is damaged or too large. */
function unpack(bytes: Buffer): Buffer | null {
  const options = { maxOutputLength: MAX_AGGREGATE_BYTES };
  try {
    if (bytes.length > 2 && bytes.readUInt16BE(0) === GZIP) return gunzipSync(bytes, options);
    if (bytes.length > 4 && bytes.readUInt32BE(0) === ZIP) return unzip(bytes, options);
    return bytes;
  } catch (error) {
    if (error instanceof Error) return null;
    throw error;
  }
}

/** The first file (APPNOTE 4.3.7), which is not encrypted and is stored or deflated. */
function unzip(bytes: Buffer, options: { readonly maxOutputLength: number }): Buffer | null {
  const isEncrypted = (bytes.readUInt16LE(6) & 1) === 1;
  const method = bytes.readUInt16LE(8);
  const data = bytes.subarray(30 + bytes.readUInt16LE(26) + bytes.readUInt16LE(28));
  if (isEncrypted) return null;
  if (method === 0) return data.subarray(0, bytes.readUInt32LE(18));
  return method === 8 ? inflateRawSync(data, options) : null;
}

/** Adds up; what exceeds the limit counts without its source. */
class Counts {
  readonly #counts = new Map<string, AggregateCount>();

  add(domain: string, source: string | null, result: string, messages: number): void {
    if (messages === 0 || !DOMAIN.test(domain) || !RESULT.test(result)) return;
    const key = JSON.stringify([domain, source, result]);
    const known = this.#counts.get(key);
    const limit = source === null ? 2 * MAX_AGGREGATE_COUNTS : MAX_AGGREGATE_COUNTS;
    if (known === undefined && this.#counts.size >= limit) {
      if (source !== null) this.add(domain, null, result, messages);
      return;
    }
    const count = { domain, source, result, messages: messages + (known?.messages ?? 0) };
    this.#counts.set(key, count);
  }

  list(): readonly AggregateCount[] {
    return [...this.#counts.values()];
  }
}

const DOMAIN = /^[\w.-]{1,253}$/;
const RESULT = /^[a-z0-9-]{1,64}$/;
const ADDRESS = /^[\da-f.:]{2,45}$/i;
const MAX_NAME_CHARS = 200;

const toNumber = (value: unknown): number => {
  const number = Number(value);
  return Number.isSafeInteger(number) && number > 0 ? Math.min(number, MAX_MESSAGES) : 0;
};
/** Of one row: no server sends more. */
const MAX_MESSAGES = 1_000_000_000;

const toSource = (value: unknown): string | null =>
  typeof value === 'string' && ADDRESS.test(value) ? value.toLowerCase() : null;

const toName = (value: unknown): string | null =>
  typeof value === 'string' && value.trim() !== ''
    ? value.trim().slice(0, MAX_NAME_CHARS).toWellFormed()
    : null;

const toDomain = (value: unknown): string =>
  typeof value === 'string' ? value.trim().toLowerCase().replace(/\.$/, '') : '';

/** Values by their path below `feedback`, as far as they are read. */
const DMARC_PATHS = {
  reporter: 'report_metadata/org_name',
  id: 'report_metadata/report_id',
  published: 'policy_published/domain',
  source: 'record/row/source_ip',
  count: 'record/row/count',
  dkim: 'record/row/policy_evaluated/dkim',
  spf: 'record/row/policy_evaluated/spf',
  domain: 'record/identifiers/header_from',
} as const;

type DmarcValue = keyof typeof DMARC_PATHS;
const NAMES = new Map<string, DmarcValue>(
  Object.entries(DMARC_PATHS).map(([name, path]) => [`feedback/${path}`, name as DmarcValue]),
);
const MAX_VALUE_CHARS = 300;
const RECORD_VALUES = ['source', 'count', 'dkim', 'spf', 'domain'] as const;
/** Elements within elements; real ones have five. */
const MAX_DEPTH = 20;

function readDmarc(text: string): AggregateReport | null {
  const counts = new Counts();
  const values: Partial<Record<DmarcValue, string>> = {};
  const path: string[] = [];
  const parser = new Parser(
    {
      onopentag(name) {
        // The parser searches all that is open for each end.
        if (path.length === MAX_DEPTH) throw new RangeError('elements are nested too deeply');
        // Seen in practice: prefixes of a namespace.
        path.push(name.replace(/^[^:]{0,40}:/, ''));
        const value = NAMES.get(path.join('/'));
        if (value !== undefined) values[value] = '';
      },
      ontext(piece) {
        const value = NAMES.get(path.join('/'));
        if (value === undefined) return;
        const before = values[value] ?? '';
        values[value] = before + piece.slice(0, MAX_VALUE_CHARS - before.length);
      },
      onclosetag() {
        if (path.join('/') === 'feedback/record') {
          const isPassed = [values.dkim, values.spf].some((one) => one?.trim().toLowerCase() === 'pass');
          const domain = toDomain(values.domain ?? values.published);
          counts.add(
            domain,
            toSource(values.source?.trim()),
            isPassed ? 'pass' : 'fail',
            toNumber(values.count),
          );
          for (const name of RECORD_VALUES) delete values[name];
        }
        path.pop();
      },
    },
    { xmlMode: true },
  );
  try {
    parser.end(text);
  } catch (error) {
    if (error instanceof RangeError) return null;
    throw error;
  }
  const isDmarc = values.published !== undefined;
  if (!isDmarc) return null;
  return { kind: 'dmarc', reporter: toName(values.reporter), id: toName(values.id), counts: counts.list() };
}

type Json = Readonly<Record<string, unknown>>;

const toObject = (value: unknown): Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Json) : {};
const toList = (value: unknown): readonly Json[] => (Array.isArray(value) ? value.map(toObject) : []);

function readTls(text: string): AggregateReport | null {
  let report: Json;
  try {
    report = toObject(JSON.parse(text));
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw error;
  }
  if (!Array.isArray(report['policies'])) return null;
  const counts = new Counts();
  for (const policy of toList(report['policies'])) {
    const domain = toDomain(toObject(policy['policy'])['policy-domain']);
    const summary = toObject(policy['summary']);
    counts.add(domain, null, 'pass', toNumber(summary['total-successful-session-count']));
    let left = toNumber(summary['total-failure-session-count']);
    for (const failure of toList(policy['failure-details'])) {
      const sessions = toNumber(failure['failed-session-count']);
      left -= sessions;
      const type = String(failure['result-type']).toLowerCase();
      counts.add(domain, toSource(failure['sending-mta-ip']), RESULT.test(type) ? type : 'fail', sessions);
    }
    counts.add(domain, null, 'fail', Math.max(left, 0));
  }
  return {
    kind: 'tls',
    reporter: toName(report['organization-name']),
    id: toName(report['report-id']),
    counts: counts.list(),
  };
}
