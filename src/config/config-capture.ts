/** Reads the rules of an account for what of its mailboxes is recorded: `capture` of ACCOUNTS_FILE and the API. */
import { toAddressPattern } from '../core/address/address-pattern.ts';
import type { CaptureRules } from '../core/mailbox/capture.ts';
import { toAsciiDomain } from '../core/address/domain.ts';
import { isStorable } from '../core/storable-text.ts';
import { readFlag } from './config-closing.ts';
import { ConfigError } from './config-error.ts';

/** Field → what an entry is, how it is stored, and how many there may be. */
const LISTS = {
  folders: { is: 'the name of a mailbox', fits: (text: string) => text.length <= 1000, most: 50 },
  never_addresses: {
    is: 'an address such as bank@example.com, *@example.com or *@*.example.com',
    fits: (text: string) => toAddressPattern(text) !== null,
    most: 1000,
  },
  never_subjects: { is: 'a part of a subject', fits: (text: string) => text.length <= 200, most: 100 },
  internal_domains: {
    is: 'a domain',
    fits: (text: string) => isDomain(text),
    most: 100,
  },
} as const;
const SWITCHES = ['leave_out_private', 'only_customers'] as const;

type Field = keyof typeof LISTS | (typeof SWITCHES)[number];
const FIELDS: ReadonlySet<string> = new Set([...Object.keys(LISTS), ...SWITCHES]);

/** Throws ConfigError. */
export function readCapture(where: string, value: unknown): CaptureRules | null {
  if (value === undefined || value === null) return null;
  if (typeof value !== 'object' || Array.isArray(value)) {
    throw new ConfigError(where, 'must be an object such as {"never_addresses": ["*@bank.example"]}');
  }
  const fields: Readonly<Partial<Record<Field, unknown>>> = value;
  const unknown = Object.keys(fields).find((name) => !FIELDS.has(name));
  if (unknown !== undefined) throw new ConfigError(where, `has the unknown field ${unknown}`);
  const list = (name: keyof typeof LISTS) => readList(`${where}.${name}`, fields[name], LISTS[name]);
  const isOn = (name: (typeof SWITCHES)[number]) => readFlag(`${where}.${name}`, fields[name]);
  const lower = (texts: readonly string[]) => texts.map((text) => text.normalize('NFC').toLowerCase());
  return {
    folders: list('folders'),
    neverAddresses: list('never_addresses').map((text) => toAddressPattern(text) ?? text),
    neverSubjects: lower(list('never_subjects')),
    internalDomains: lower(list('internal_domains')).map(toAscii),
    leaveOutPrivate: isOn('leave_out_private'),
    onlyCustomers: isOn('only_customers'),
  };
}

const isDomain = (text: string): boolean => toAsciiDomain(text.normalize('NFC')) !== null;
/** As the domains of parsed addresses are. */
const toAscii = (domain: string): string => toAsciiDomain(domain) ?? domain;

function readList(
  where: string,
  value: unknown,
  {
    is,
    fits,
    most,
  }: { readonly is: string; readonly fits: (text: string) => boolean; readonly most: number },
): readonly string[] {
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value) || value.length > most) {
    throw new ConfigError(where, `must be a list of at most ${most} entries`);
  }
  return value.map((text: unknown) => {
    if (typeof text !== 'string' || text.trim() === '' || !isStorable(text) || !fits(text)) {
      throw new ConfigError(where, `has an entry that is not ${is}`);
    }
    return text;
  });
}
