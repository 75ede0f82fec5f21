/**
 * The URL of an S3 store, as in `BLOB_URL` and in places of backups:
 * `s3://bucket/prefix?endpoint=https://host&region=eu-central-1&path_style=true`.
 */
import { trimEnds } from '../../core/trim-ends.ts';
import { parseStoragePath } from './storage-path.ts';

export interface S3Location {
  readonly bucket: string;
  /** The start of every key, ends with `/`; empty for no prefix. */
  readonly prefix: string;
  /** null for AWS itself. */
  readonly endpoint: string | null;
  readonly region: string;
  /** The bucket is in the path instead of the host name. Default: true with an endpoint, as most servers other than AWS need. */
  readonly pathStyle: boolean;
}

/** The region that AWS assumes when a client names none, and that other servers ignore. */
const DEFAULT_REGION = 'us-east-1';
/** Wider than AWS, which allows no upper case and no `_`: other servers allow both. */
const BUCKET = /^[A-Za-z0-9][A-Za-z0-9._-]{1,61}[A-Za-z0-9]$/;
const PARAMETERS: ReadonlySet<string> = new Set(['endpoint', 'region', 'path_style']);

/**
 * Throws a plain error whose message names the fault, and never contains anything that could be secret.
 *
 * @param named the name of the URL in the message
 */
export function parseS3Url(text: string, named = 'BLOB_URL'): S3Location {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || url.protocol !== 's3:')
    throw new Error(`${named} is not a URL of the form s3://bucket/prefix`);
  if (url.username !== '' || url.password !== '') {
    throw new Error(`${named} holds credentials; they belong in AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY`);
  }
  if (!BUCKET.test(url.host)) throw new Error(`${named} does not name a bucket`);
  for (const name of url.searchParams.keys()) {
    if (!PARAMETERS.has(name)) throw new Error(`${named} has the unknown parameter ${name}`);
    if (url.searchParams.getAll(name).length > 1) throw new Error(`${named} has the parameter ${name} twice`);
  }
  const endpoint = readEndpoint(url.searchParams.get('endpoint'), named);
  return {
    bucket: url.host,
    prefix: readPrefix(url.pathname, named),
    endpoint,
    region: url.searchParams.get('region') ?? DEFAULT_REGION,
    pathStyle: readFlag(url.searchParams.get('path_style'), named) ?? endpoint !== null,
  };
}

function readEndpoint(text: string | null, named: string): string | null {
  if (text === null) return null;
  const url = URL.canParse(text) ? new URL(text) : null;
  const isPlain = url !== null && url.username === '' && url.password === '' && url.search === '';
  if (!isPlain || !['http:', 'https:'].includes(url.protocol)) {
    throw new Error(`${named} has an endpoint that is not a plain http or https URL`);
  }
  return text;
}

function readPrefix(pathname: string, named: string): string {
  const path = trimEnds(pathname, (character) => character === '/');
  if (path === '') return '';
  try {
    return `${parseStoragePath(decodeURIComponent(path)).join('/')}/`;
  } catch (error) {
    throw new Error(`${named} has a prefix that is not a storage path`, { cause: error });
  }
}

function readFlag(text: string | null, named: string): boolean | null {
  if (text === null) return null;
  if (text !== 'true' && text !== 'false')
    throw new Error(`${named} has a path_style that is neither true nor false`);
  return text === 'true';
}
