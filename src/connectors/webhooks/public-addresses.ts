/**
 * The addresses that requests may go to: those of the public internet (by ipaddr.js, from the registries of IANA: RFC 6890), and those that
 * the operator allows. An address is checked when the connection is made, so a name can't point elsewhere after a check.
 */
import ipaddr from 'ipaddr.js';

export interface AllowedTargets {
  /** Addresses and networks, such as `10.0.0.0/8`. */
  readonly networks: readonly string[];
  /** Host names, in lower case without a dot at the end, allowed whatever their addresses are. */
  readonly hosts: readonly string[];
}

type Address = ipaddr.IPv4 | ipaddr.IPv6;

/** The part of IPv6 that is in use; everything outside it is unassigned or not public. */
const GLOBAL_UNICAST = ipaddr.IPv6.parseCIDR('2000::/3');
/** RFC 6052 §2.1: an IPv4 host behind a translator; the last four bytes are its address. */
const WELL_KNOWN_NAT64 = ipaddr.IPv6.parseCIDR('64:ff9b::/96');
/** Answers only virtual machines of Azure, and gives them their secrets. */
const AZURE_WIRE_SERVER = '168.63.129.16';

export interface TargetRules {
  /** `host` as in a URL: an address in its usual form, or a name. True whatever its addresses are. */
  allowsHost(host: string): boolean;
  allowsAddress(address: string): boolean;
  /** The operator allowed the address, or a network that contains it: also without TLS. */
  isListed(address: string): boolean;
  /** True if any network is allowed, so that a name may lead there. */
  readonly hasNetworks: boolean;
}

export function createTargetRules({ networks, hosts }: AllowedTargets): TargetRules {
  const names = new Set(hosts);
  const listed = networks.map((network) =>
    network.includes('/')
      ? ipaddr.parseCIDR(network)
      : ([ipaddr.parse(network), ipaddr.parse(network).kind() === 'ipv4' ? 32 : 128] as [Address, number]),
  );
  const isListed = (text: string): boolean => {
    const address = parse(text);
    return (
      address !== null &&
      listed.some(([network, bits]) => network.kind() === address.kind() && address.match(network, bits))
    );
  };
  return {
    hasNetworks: networks.length > 0,
    allowsHost: (host) => names.has(plainHost(host)) || isListed(plainHost(host)),
    allowsAddress: (address) => isListed(address) || isPublic(address),
    isListed,
  };
}

/** Without brackets, and without the dot at its end. */
export const plainHost = (host: string): string => host.toLowerCase().replace(/^\[|\]$|\.$/g, '');

/** null when it is not an address. IPv4 in IPv6 (RFC 4291 §2.5.5.2) is IPv4. */
function parse(text: string): Address | null {
  return ipaddr.isValid(text) ? ipaddr.process(text) : null;
}

/** What WEBHOOK_ALLOW allows is for endpoints that an operator chose, not for addresses that strangers write. Throws when it is not public. */
export function requirePublic(address: string): void {
  if (!isPublic(address))
    throw Object.assign(new Error('not a public address'), { code: 'not_a_public_address' });
}

export function isPublic(text: string): boolean {
  const address = parse(text);
  if (address === null) return false;
  if (address instanceof ipaddr.IPv4) {
    return address.range() === 'unicast' && address.toString() !== AZURE_WIRE_SERVER;
  }
  if (address.match(WELL_KNOWN_NAT64)) return isPublic(address.toByteArray().slice(12).join('.'));
  // 6to4 and Teredo addresses contain IPv4 addresses, too; they are not unicast, and out of use.
  return address.range() === 'unicast' && address.match(GLOBAL_UNICAST);
}
