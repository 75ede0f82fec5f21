/**
 * Reads the file in which a domain publishes the servers of its mailboxes, in the format of Thunderbird
 * (https://www.bucksch.org/1/projects/thunderbird/autoconfiguration/config-file-format.html). It is a stranger's: XML has no entities of its
 * own here, and only servers with TLS are read.
 */
import { Parser } from 'htmlparser2';
import { toAsciiDomain } from '../address/domain.ts';
import { addrSpec, type Address } from '../address/address.ts';
import type { FoundServer } from './found-settings.ts';

export interface Autoconfig {
  readonly name: string | null;
  readonly imap: FoundServer | null;
  readonly smtp: FoundServer | null;
}

/** Real ones have up to eight elements within each other. */
const MAX_DEPTH = 16;
const MAX_VALUE_CHARS = 320;
const MAX_NAME_CHARS = 100;

/** null: it is no such file, or names no server. */
export function readAutoconfig(text: string, address: Address): Autoconfig | null {
  const found: { name: string | null; imap: FoundServer | null; smtp: FoundServer | null } = {
    name: null,
    imap: null,
    smtp: null,
  };
  const path: string[] = [];
  let fields: Record<string, string> | null = null;
  let value = '';
  let isRefused = false;
  const parser: Parser = new Parser(
    {
      onopentag(name, attributes) {
        path.push(name);
        value = '';
        if (path.length > MAX_DEPTH) refuse();
        if (name === 'incomingServer' || name === 'outgoingServer')
          fields = { type: attributes['type'] ?? '' };
      },
      ontext(part) {
        if (value.length <= MAX_VALUE_CHARS) value += part;
      },
      onclosetag(name) {
        path.pop();
        const [parent] = path.slice(-1);
        if (name === 'displayName' && parent === 'emailProvider') found.name ??= toName(value);
        // The first one of each is the one that the domain prefers.
        else if (name === 'incomingServer') found.imap ??= toServer('imap', fields, address);
        else if (name === 'outgoingServer') found.smtp ??= toServer('smtp', fields, address);
        else if (fields !== null && (parent === 'incomingServer' || parent === 'outgoingServer'))
          fields[name] ??= value.trim();
        value = '';
      },
      // A document type could define entities; no such file needs one.
      onprocessinginstruction(name) {
        if (name.startsWith('!')) refuse();
      },
    },
    { xmlMode: true },
  );
  function refuse(): void {
    isRefused = true;
    parser.pause();
  }
  parser.write(text);
  if (isRefused) return null;
  parser.end();
  return found.imap === null && found.smtp === null ? null : found;
}

function toServer(
  type: 'imap' | 'smtp',
  fields: Readonly<Record<string, string>> | null,
  address: Address,
): FoundServer | null {
  if (fields?.['type'] !== type) return null;
  const { hostname = '', port = '', socketType = '', username = '' } = fields;
  const server = toFoundServer(fill(hostname, address), port, socketType === 'SSL');
  if (server === null || (socketType !== 'SSL' && socketType !== 'STARTTLS')) return null;
  const user = fill(username, address);
  return {
    ...server,
    user: user === '' || user.length > MAX_VALUE_CHARS || /\p{Cc}/u.test(user) ? null : user,
  };
}

/** null: the host is no name of the internet, or the port is not one. */
export function toFoundServer(host: string, port: string, isTls: boolean): FoundServer | null {
  const name = toAsciiDomain(host.replace(/\.$/, ''));
  if (name === null || !name.includes('.') || /\.(?:localhost|local|internal)$/.test(name)) return null;
  const number = /^\d{1,5}$/.test(port) ? Number(port) : 0;
  return number >= 1 && number <= 65_535 ? { host: name, port: number, isTls, user: null } : null;
}

function fill(text: string, address: Address): string {
  const { localPart, domain } = address;
  return text
    .replaceAll('%EMAILADDRESS%', () => addrSpec(address))
    .replaceAll('%EMAILLOCALPART%', () => localPart)
    .replaceAll('%EMAILDOMAIN%', () => domain);
}

const toName = (text: string): string | null =>
  text
    .replace(/\p{Cc}/gu, ' ')
    .trim()
    .slice(0, MAX_NAME_CHARS)
    .toWellFormed() || null;
