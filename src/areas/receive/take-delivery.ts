/**
 * Takes one message that a mail server hands over, for one or more accounts. Each account has its own outcome. An LMTP
 * client gets each of them; an SMTP client repeats the whole message, and an account that recorded it before gets a
 * duplicate.
 */
import { patternOf, withoutDetail } from '../../core/accounts/sender-addresses.ts';
import { addrSpec } from '../../core/address/address.ts';
import type { MailClient, SenderCheck } from './sender-check.ts';
import type { ReceiveRequest, ReceiveResult } from './use-cases.ts';
import { DELIVERY_IN_MEMORY_MAX_BYTES } from '../../platform/base/limits.ts';
import type { Account, Logger } from '../../platform/base/basics.ts';
import type { Spool, SpoolFolder } from '../../platform/files/file-ports.ts';
import { readRaw } from '../../platform/files/read-raw.ts';

export interface TakeDeliveryPorts {
  readonly receive: (request: ReceiveRequest, folder: SpoolFolder) => Promise<ReceiveResult>;
  readonly spool: Spool;
  /** Throws while files can't be stored: then the client keeps every message, however small. */
  readonly requireStorage: () => Promise<void>;
  readonly logger: Logger;
  /** The check for the protocol that a message comes by; default: senders are not checked. */
  readonly senders?: Partial<Record<Delivery['protocol'], SenderCheck>>;
}

export interface Delivery {
  /** Without duplicates. */
  readonly accountIds: readonly string[];
  /** null for `<>`. */
  readonly mailFrom: string | null;
  readonly protocol: 'lmtp' | 'smtp';
  readonly client: MailClient;
  readonly source: AsyncIterable<Buffer>;
  /** Called after the last byte: false when the message must not be recorded. */
  readonly isWhole: () => boolean;
}

/**
 * Returns the accounts that have stored the message durably; the others may be tried again. Throws when the message can't
 * be read, kept or checked.
 */
export async function takeDelivery(
  ports: TakeDeliveryPorts,
  { accountIds, mailFrom, protocol, client, source, isWhole }: Delivery,
): Promise<ReadonlySet<string>> {
  const folder = ports.spool.create();
  const recorded = new Set<string>();
  try {
    const raw = await readRaw(source[Symbol.asyncIterator](), DELIVERY_IN_MEMORY_MAX_BYTES, folder);
    if (!isWhole()) return recorded;
    await ports.requireStorage();
    // By LMTP one of our own servers hands it over: the client is that server.
    const isFromSender = protocol === 'smtp';
    const found = await ports.senders?.[protocol]?.check({
      raw,
      client: isFromSender ? client : null,
      mailFrom,
    });
    for (const accountId of accountIds) {
      try {
        const source = { way: protocol, place: null };
        const request = {
          raw,
          accountId,
          mailFrom,
          source,
          ...(found === undefined ? {} : { authentication: { found, isWhole: isFromSender } }),
        };
        await ports.receive(request, ports.spool.create());
        recorded.add(accountId);
      } catch (err) {
        ports.logger.warn({ err, accountId }, 'a delivered message could not be recorded; it is deferred');
      }
    }
    return recorded;
  } finally {
    await folder.remove();
  }
}

/**
 * Finds the account of an address: the account with the same address, also with `+detail` behind the local part (RFC
 * 5233), else with a pattern for its domain. Case does not matter. If several accounts have the address, the first gets the mail, before
 * all others one whose From it is. `postmaster`, which every server has to take (RFC 5321 §4.5.1), is the account of that name, or the
 * first; at a domain of accounts, the first one there.
 */
export function createAccountLookup(accounts: Iterable<Account>): (address: string) => string | null {
  const all = [...accounts];
  const byAddress = new Map<string, string>();
  const byDetail = new Map<string, string>();
  const byDomain = new Map<string, string>();
  const reserved = new Map<string, string>();
  const add = (map: Map<string, string>, key: string, id: string) => {
    if (!map.has(key)) map.set(key, id);
  };
  for (const { id, from } of all) {
    add(byAddress, addrSpec(from).toLowerCase(), id);
    add(reserved, `${POSTMASTER}@${from.domain}`, id);
    if (!reserved.has(POSTMASTER) || from.localPart.toLowerCase() === POSTMASTER)
      reserved.set(POSTMASTER, id);
  }
  for (const { id, addresses = [] } of all) {
    for (const { address } of addresses) {
      const pattern = patternOf(address);
      const key = addrSpec(address).toLowerCase();
      if (pattern === 'domain') add(byDomain, address.domain, id);
      else if (pattern === 'detail') add(byDetail, withoutDetail(key), id);
      else add(byAddress, key, id);
      add(reserved, `${POSTMASTER}@${address.domain}`, id);
    }
  }
  return (address) => {
    const key = address.toLowerCase();
    const base = withoutDetail(key);
    return (
      byAddress.get(key) ??
      (base === key ? undefined : byDetail.get(base)) ??
      byAddress.get(base) ??
      reserved.get(key) ??
      byDomain.get(key.slice(key.lastIndexOf('@') + 1)) ??
      null
    );
  };
}

const POSTMASTER = 'postmaster';
