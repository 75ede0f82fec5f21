/**
 * The DNS records that make receivers trust mail of a domain: the public keys of its signatures (RFC 6376 §3.6, RFC 8463 §4),
 * SPF (RFC 7208) and DMARC (RFC 7489). Gives their text, and describes what is wrong with the published ones.
 */
import { createPublicKey, type KeyObject } from 'node:crypto';
import { isLoopback } from '../server-url.ts';

/** Octets of one string of a TXT record at most, RFC 1035 §3.3. */
const TXT_STRING_OCTETS = 255;
const TXT_STRINGS = new RegExp(`.{1,${TXT_STRING_OCTETS}}`, 'g');

export interface TxtRecord {
  /** Without a trailing dot. */
  readonly name: string;
  readonly value: string;
}

/**
 * - `good`: as it should be.
 * - `wrong`: receivers refuse or distrust mail because of it.
 * - `advice`: works, but could be better.
 */
export interface RecordFinding {
  readonly kind: 'good' | 'wrong' | 'advice';
  /** The name that was looked up. */
  readonly name: string;
  readonly text: string;
}

/** The record that publishes the public half of a key. */
export function dkimRecord(domain: string, selector: string, privateKey: KeyObject): TxtRecord {
  const type = privateKey.asymmetricKeyType === 'rsa' ? 'rsa' : 'ed25519';
  return {
    name: `${selector}._domainkey.${domain}`,
    value: `v=DKIM1; k=${type}; p=${publicKeyOf(privateKey)}`,
  };
}

/** RFC 8463 §4.2: for an Ed25519 key only its 32 octets, which are the end of the DER. */
function publicKeyOf(privateKey: KeyObject): string {
  const der = createPublicKey(privateKey).export({ type: 'spki', format: 'der' });
  return (privateKey.asymmetricKeyType === 'rsa' ? der : der.subarray(-32)).toString('base64');
}

/** A line of a zone file; the value is split as a TXT record needs it. */
export function formatTxtRecord({ name, value }: TxtRecord): string {
  const strings = value.match(TXT_STRINGS) ?? [''];
  return `${name}. IN TXT ${strings.map((text) => `"${text}"`).join(' ')}`;
}

/** The SPF domains of large mail providers, by the suffix of their servers' host names. */
const SPF_INCLUDES: readonly (readonly [host: string, include: string])[] = [
  ['gmail.com', '_spf.google.com'],
  ['google.com', '_spf.google.com'],
  ['outlook.com', 'spf.protection.outlook.com'],
  ['office365.com', 'spf.protection.outlook.com'],
  ['amazonaws.com', 'amazonses.com'],
  ['mailgun.org', 'mailgun.org'],
  ['sendgrid.net', 'sendgrid.net'],
  ['zoho.eu', 'zoho.eu'],
  ['zoho.com', 'zohomail.com'],
];

/** The mechanism that the SPF record must contain for mail that goes out by this server. @param host null: none is known */
function spfMechanism(host: string | null): string {
  // A server on this machine or its network sends from an address that its name does not reveal.
  if (host === null || isLoopback(host) || !/[.:]/.test(host)) return 'a mx';
  if (host.includes(':')) return `ip6:${host}`;
  if (/^\d+(?:\.\d+){3}$/.test(host)) return `ip4:${host}`;
  const known = SPF_INCLUDES.find(([end]) => host === end || host.endsWith(`.${end}`));
  return known === undefined ? `a:${host}` : `include:${known[1]}`;
}

/** Records to begin with. @param smtpHost the server that takes outgoing mail; null: none is known */
export function suggestedRecords(fromDomain: string, smtpHost: string | null): readonly TxtRecord[] {
  return [
    { name: fromDomain, value: `v=spf1 ${spfMechanism(smtpHost)} ~all` },
    { name: `_dmarc.${fromDomain}`, value: `v=DMARC1; p=none; rua=mailto:postmaster@${fromDomain}` },
  ];
}

/** @param published the values of all TXT records of the name */
export function judgeDkimRecord(expected: TxtRecord, published: readonly string[]): RecordFinding {
  const { name } = expected;
  const wrong = (text: string): RecordFinding => ({ kind: 'wrong', name, text });
  const [value, ...others] = published;
  if (value === undefined) return wrong(`there is no TXT record; publish "${expected.value}"`);
  if (others.length > 0) return wrong(`there are ${published.length} TXT records; there must be one`);
  const tags = readTags(value);
  if (tags === null) return wrong('the record is not made of tags such as p=…');
  const wanted = readTags(expected.value);
  if (tags.has('v') && (tags.get('v') !== 'DKIM1' || !/^\s*v\s*=/.test(value)))
    return wrong('v=DKIM1 must come first');
  const key = tags.get('p');
  if (key === undefined) return wrong('the record has no public key (p=)');
  if (key === '') return wrong('the public key is empty: the record says that the key was withdrawn');
  const type = tags.get('k') ?? 'rsa';
  if (type !== wanted?.get('k')) {
    return wrong(
      `the record is of a key of the type ${type}, the private key is of ${wanted?.get('k') ?? ''}`,
    );
  }
  if (key !== wanted.get('p')) {
    const isCut = wanted.get('p')?.startsWith(key) ?? false;
    return wrong(
      isCut
        ? 'the public key is cut off: the record needs several strings'
        : 'the public key belongs to another private key than the service has',
    );
  }
  const hashes = tags.get('h');
  if (hashes !== undefined && !hashes.split(':').includes('sha256'))
    return wrong(`h=${hashes} does not allow SHA-256`);
  const services = tags.get('s');
  if (services !== undefined && !services.split(':').some((one) => one === '*' || one === 'email')) {
    return wrong(`s=${services} does not allow email`);
  }
  if (tags.get('t')?.split(':').includes('y') === true) {
    return {
      kind: 'advice',
      name,
      text: 't=y says that the key is being tested: receivers may ignore its signatures',
    };
  }
  return { kind: 'good', name, text: 'the public key is the one of the service' };
}

/** @param published the values of all TXT records of the domain */
export function judgeSpf(
  fromDomain: string,
  smtpHost: string | null,
  published: readonly string[],
): RecordFinding {
  const name = fromDomain;
  const records = published.filter((value) => /^v=spf1(?: |$)/i.test(value));
  const [record, ...others] = records;
  const [suggested] = suggestedRecords(fromDomain, smtpHost);
  if (record === undefined) {
    return {
      kind: 'wrong',
      name,
      text: `there is no SPF record; publish one such as "${suggested?.value ?? ''}"`,
    };
  }
  if (others.length > 0) {
    return {
      kind: 'wrong',
      name,
      text: `there are ${records.length} SPF records: receivers ignore all (RFC 7208 §4.5)`,
    };
  }
  const terms = record.toLowerCase().split(/ +/).slice(1);
  if (terms.includes('all') || terms.includes('+all')) {
    return {
      kind: 'wrong',
      name,
      text: '+all allows every machine to send mail of the domain; end it with ~all or -all',
    };
  }
  const needed = spfMechanism(smtpHost);
  if (needed.startsWith('include:') && !terms.some((term) => term.replace(/^\+/, '') === needed)) {
    return { kind: 'advice', name, text: `the SPF record does not name the mail server: add ${needed}` };
  }
  if (!terms.some((term) => /^[-~?]all$|^redirect=/.test(term))) {
    return {
      kind: 'advice',
      name,
      text: 'the SPF record says nothing of other machines; end it with ~all or -all',
    };
  }
  return { kind: 'good', name, text: `SPF: ${record}` };
}

export interface DmarcQuestion {
  readonly fromDomain: string;
  /** The signing domain. */
  readonly dkimDomain: string;
  /** The name that was looked up: From's domain, else the registered one. */
  readonly name: string;
  /** The values of its TXT records. */
  readonly published: readonly string[];
}

export function judgeDmarc({ fromDomain, dkimDomain, name, published }: DmarcQuestion): RecordFinding {
  const records = published.filter((value) => /^v\s*=\s*DMARC1\s*(?:;|$)/.test(value));
  const [record, ...others] = records;
  if (record === undefined) {
    const suggested = suggestedRecords(fromDomain, null)[1]?.value ?? '';
    return {
      kind: 'wrong',
      name,
      text: `there is no DMARC record; large providers want one; publish "${suggested}"`,
    };
  }
  if (others.length > 0) {
    return {
      kind: 'wrong',
      name,
      text: `there are ${records.length} DMARC records: receivers ignore all (RFC 7489 §6.6.3)`,
    };
  }
  const tags = readTags(record);
  const policy = tags?.get('p')?.toLowerCase();
  if (policy === undefined || !['none', 'quarantine', 'reject'].includes(policy)) {
    return { kind: 'wrong', name, text: 'the DMARC record has no policy: p=none, p=quarantine or p=reject' };
  }
  if (tags?.get('adkim')?.toLowerCase() === 's' && dkimDomain !== fromDomain) {
    return {
      kind: 'wrong',
      name,
      text: `adkim=s counts signatures of ${fromDomain} only, and mail is signed for ${dkimDomain}`,
    };
  }
  if (policy === 'none') {
    return {
      kind: 'advice',
      name,
      text: 'p=none asks for reports alone; with good reports, go on to p=quarantine',
    };
  }
  return { kind: 'good', name, text: `DMARC: ${record}` };
}

/** RFC 6376 §3.2; null when the text is not a tag list. White space in values does not count. */
function readTags(text: string): ReadonlyMap<string, string> | null {
  const tags = new Map<string, string>();
  for (const part of text.split(';')) {
    if (part.trim() === '') continue;
    const equals = part.indexOf('=');
    if (equals < 0) return null;
    tags.set(part.slice(0, equals).trim(), part.slice(equals + 1).replace(/\s+/g, ''));
  }
  return tags;
}
