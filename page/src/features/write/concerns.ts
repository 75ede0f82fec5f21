/** Concerns about a message that could be sent as it is, found before it goes out. */
import { entriesOf } from './entries.ts';

/** The service's data about an address. */
export interface Recipient {
  readonly address: string;
  readonly suppressed: boolean;
  readonly customer_id: string | null;
  readonly customer_name: string | null;
}

export type Concern =
  | { readonly kind: 'no_file' }
  /** Nothing is sent to this address. */
  | { readonly kind: 'suppressed'; readonly address: string }
  /** The address belongs to another customer than the thread, or than the recipients before it. */
  | { readonly kind: 'other_customer'; readonly address: string; readonly customer: string | null };

/** More addresses are a mailing: they were not typed one by one, and each costs a request. */
const MAX_CHECKED = 20;

const IN_BRACKETS = /<([^<>]*)>\s*$/;

/** The addresses in the fields, each once, in lower case as the service stores them. */
export function addressesIn(...fields: readonly string[]): readonly string[] {
  const all = fields
    .flatMap(entriesOf)
    .map((entry) => (IN_BRACKETS.exec(entry)?.[1] ?? entry).trim().toLowerCase())
    .filter((address) => address.includes('@'));
  return [...new Set(all)].slice(0, MAX_CHECKED);
}

/** @param customerId of the thread; null: the thread has none, or is new */
export function concernsAbout(known: readonly Recipient[], customerId: string | null): Concern[] {
  const expected = customerId ?? known.find(({ customer_id }) => customer_id !== null)?.customer_id ?? null;
  return known.flatMap((one): Concern[] => {
    const { address, suppressed, customer_id: id, customer_name: customer } = one;
    return [
      ...(suppressed ? [{ kind: 'suppressed', address } as const] : []),
      ...(id !== null && id !== expected ? [{ kind: 'other_customer', address, customer } as const] : []),
    ];
  });
}
