/** The participants of a thread, as lists and its record show them. */
import type { AddressView } from '../../core/address/address-view.ts';

/** The newest emails of a thread whose participants are shown, and how many participants. */
const PARTICIPANT_EMAILS = 20;
const MAX_PARTICIPANTS = 10;

/** An email may have thousands. */
export const firstAddresses = (addresses: string, count: number): string =>
  `case when jsonb_array_length(${addresses}) > ${count} then jsonb_path_query_array(${addresses}, '$[0 to ${count - 1}]') else ${addresses} end`;

/** No more than are shown, beside the sender, who may be among them. */
const firstOf = (addresses: string) => firstAddresses(addresses, MAX_PARTICIPANTS + 1);

/** A query of one row, `people`: of the newest emails `e` that meet the condition, the sender first. */
export const peopleOf = (threadId: string, condition: string) => `
    select coalesce(json_agg(r.people), '[]') as people from (
      select jsonb_build_array(e.from_address) || ${firstOf('e.to_addresses')} || ${firstOf('e.cc_addresses')} as people
      from emails e where e.thread_id = ${threadId} and ${condition}
      order by e.date desc, e.id desc limit ${PARTICIPANT_EMAILS}
    ) r`;

/** Senders, then the others, each address once; measured to be cheaper here than in the database. */
export function participantsOf(emails: readonly (readonly AddressView[])[]): readonly AddressView[] {
  const senders = emails.flatMap((people) => people.slice(0, 1));
  const others = emails.flatMap((people) => people.slice(1));
  const found = new Map<string, AddressView>();
  for (const { name, address } of [...senders, ...others]) {
    if (address === '') continue;
    const key = address.toLowerCase();
    const known = found.get(key);
    if (known === undefined) {
      if (found.size < MAX_PARTICIPANTS) found.set(key, { name, address });
    } else if (known.name === '' && name !== '') {
      found.set(key, { name, address: known.address });
    }
  }
  return [...found.values()];
}
