/** Servers of a mailbox, as they were found for its address, in the form in which accounts take them. */
import { addrSpec, type Address } from '../address/address.ts';
import { organizationalDomain } from '../address/organizational-domain.ts';

/** `provider`: of a list. `srv`: RFC 6186, RFC 8314. `autoconfig`: a file of the domain. `mx`: whose servers take the domain's mail. */
export const SETTINGS_SOURCES = ['provider', 'srv', 'autoconfig', 'mx'] as const;
/** `app_password`: the provider makes one for programs. `consent`: the owner allows the access at the provider, see decision 0068. */
export const LOG_INS = ['password', 'app_password', 'consent'] as const;

export interface FoundServer {
  /** A name in lower case. */
  readonly host: string;
  readonly port: number;
  /** False: TLS begins by STARTTLS. */
  readonly isTls: boolean;
  /** The user to log in; null: the address. */
  readonly user: string | null;
}

export interface FoundServers {
  readonly source: (typeof SETTINGS_SOURCES)[number];
  /** Of the provider; null: not known. */
  readonly name: string | null;
  readonly smtp: FoundServer | null;
  readonly imap: FoundServer | null;
  readonly logIn: (typeof LOG_INS)[number];
  /** The provider whose consent page is known here. */
  readonly consentOf: 'google' | 'microsoft' | null;
}

export interface FoundSettings extends Pick<FoundServers, 'source' | 'name' | 'logIn'> {
  /** With the user and without a password. */
  readonly smtpUrl: string | null;
  readonly imapUrl: string | null;
  readonly oauth2: { readonly provider: 'google' | 'microsoft' } | null;
  /** In English; null: none. */
  readonly note: string | null;
}

const FOREIGN =
  'A server is outside the domain of the address: make sure that it is the one of the mailbox before it gets a password.';
const NO_IMAP = 'The list of providers has no IMAP server for it.';

export function toFoundSettings(address: Address, found: FoundServers): FoundSettings {
  const { source, name, smtp, imap, logIn, consentOf } = found;
  const domain = organizationalDomain(address.domain);
  // RFC 6186 §6: whoever answers for the DNS of a domain could lead its passwords elsewhere.
  const isForeign =
    (source === 'srv' || source === 'autoconfig') &&
    [smtp, imap].some((server) => server !== null && organizationalDomain(server.host) !== domain);
  return {
    source,
    name,
    logIn,
    smtpUrl: toUrl('smtp', smtp, address),
    imapUrl: toUrl('imap', imap, address),
    oauth2: consentOf === null ? null : { provider: consentOf },
    note: isForeign && consentOf === null ? FOREIGN : source === 'provider' && imap === null ? NO_IMAP : null,
  };
}

function toUrl(scheme: 'smtp' | 'imap', server: FoundServer | null, address: Address): string | null {
  if (server === null) return null;
  const user = encodeURIComponent(server.user ?? addrSpec(address));
  return `${scheme}${server.isTls ? 's' : ''}://${user}@${server.host}:${server.port}`;
}
