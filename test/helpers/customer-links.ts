/**
 * The customer that every email should have, computed from the emails and the rules in the database in the simplest way, independently of
 * the code under test: the rule of docs/api/customers.md, sentence by sentence.
 */
import { query } from './query.ts';

interface Row {
  readonly id: string;
  readonly thread_id: string;
  readonly direction: 'inbound' | 'outbound';
  readonly from_address: { address: string };
  readonly to_addresses: { address: string }[];
  readonly cc_addresses: { address: string }[];
  readonly bcc_addresses: { address: string }[];
  readonly customer_id: string | null;
  readonly customer_source: string | null;
  readonly company_id: string | null;
  readonly company_source: string | null;
  readonly new_participant: boolean;
  readonly own_customer: boolean;
}

type Owner = { customer: string; by: 'address' | 'domain' } | 'ambiguous' | null;

/** `<id>: <customer> <source> <company> <source>` of each email and thread, as stored and as expected. */
export async function compareCustomerLinks(
  connectionString: string,
): Promise<{ readonly stored: readonly string[]; readonly expected: readonly string[] }> {
  const read = <T>(text: string) => query(connectionString, text) as unknown as Promise<T[]>;
  const emails = await read<Row>('select * from emails order by created_at, id');
  const threads = await read<Row>('select * from email_threads');
  const addresses = await read<{ address: string; customer_id: string; origin: string }>(
    'select * from customer_addresses',
  );
  const domains = await read<{ domain: string; customer_id: string }>('select * from customer_domains');
  const companies = await read<{ customer_id: string; company_id: string }>(
    'select * from customer_companies',
  );

  const only = (customers: readonly string[], by: 'address' | 'domain'): Owner =>
    customers.length === 1 ? { customer: customers[0]!, by } : 'ambiguous';

  function ownerOf(address: string): Owner {
    for (const origin of ['registered', 'learned']) {
      const claims = addresses.filter((rule) => rule.address === address && rule.origin === origin);
      if (claims.length > 0)
        return only(
          claims.map((rule) => rule.customer_id),
          'address',
        );
    }
    const domain = address.split('@')[1]!;
    const fitting = domains
      .filter(
        (rule) =>
          rule.domain === domain || (rule.domain.startsWith('*.') && domain.endsWith(rule.domain.slice(1))),
      )
      .sort(
        (a, b) =>
          Number(b.domain === domain) - Number(a.domain === domain) || b.domain.length - a.domain.length,
      );
    const best = fitting.filter((rule) => rule.domain === fitting[0]!.domain);
    return best.length === 0
      ? null
      : only(
          best.map((rule) => rule.customer_id),
          'domain',
        );
  }

  function ownerOfEmail(email: Row): Owner {
    const recipients = [...email.to_addresses, ...email.cc_addresses, ...email.bcc_addresses];
    const sender = email.from_address.address.toLowerCase();
    const others =
      email.direction === 'inbound'
        ? [sender]
        : recipients.map(({ address }) => address.toLowerCase()).filter((address) => address !== sender);
    const owners = others.map(ownerOf);
    const clear = owners.filter((owner) => owner !== null && owner !== 'ambiguous');
    if (clear.length === 0) return owners.includes('ambiguous') ? 'ambiguous' : null;
    if (new Set(clear.map(({ customer }) => customer)).size > 1) return 'ambiguous';
    return clear.find(({ by }) => by === 'address') ?? clear[0]!;
  }

  const companyOf = (customer: string | null) =>
    companies.find((row) => row.customer_id === customer)?.company_id ?? null;
  const expected: string[] = [];
  for (const { id } of threads) {
    const mails = emails.filter((email) => email.thread_id === id);
    const named = mails.find((email) => email.customer_source === 'explicit');
    const deciding = mails
      .filter((email) => !isStranger(email))
      .map(ownerOfEmail)
      .find((owner) => owner !== null && owner !== 'ambiguous');
    const rule = deciding ?? null;
    const customer = named?.customer_id ?? rule?.customer ?? null;
    const namedCompany = mails.find((email) => email.company_source === 'explicit')?.company_id ?? null;
    const company = namedCompany ?? companyOf(customer);
    const source = named === undefined ? (rule?.by ?? null) : 'explicit';
    const companySource = namedCompany === null ? (company === null ? null : 'registration') : 'explicit';
    expected.push(line(id, customer, source, company, companySource));

    for (const email of mails) {
      const owner = ownerOfEmail(email);
      let link: [string | null, string | null];
      if (email.customer_source === 'explicit') link = [email.customer_id, 'explicit'];
      else if (customer !== null && !isStranger(email)) {
        const agrees = owner !== null && owner !== 'ambiguous' && owner.customer === customer;
        link = [customer, agrees && named === undefined ? owner.by : 'thread'];
      } else if (owner === 'ambiguous') link = [null, 'ambiguous'];
      else link = owner === null ? [null, null] : [owner.customer, owner.by];
      if (email.company_source === 'explicit')
        expected.push(line(email.id, ...link, email.company_id, 'explicit'));
      else if (namedCompany !== null && !isStranger(email))
        expected.push(line(email.id, ...link, namedCompany, 'thread'));
      else {
        const registered = companyOf(link[0]);
        expected.push(line(email.id, ...link, registered, registered === null ? null : 'registration'));
      }
    }
  }
  const stored = [...threads, ...emails].map((row) =>
    line(row.id, row.customer_id, row.customer_source, row.company_id, row.company_source),
  );
  return { stored: stored.sort(), expected: expected.sort() };
}

const isStranger = (email: Row): boolean => email.new_participant || email.own_customer;

const line = (...parts: readonly (string | null)[]): string => parts.map(String).join(' ');
