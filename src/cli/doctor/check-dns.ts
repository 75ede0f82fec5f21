/** DNS checks of the domains that mail is sent from, and of the servers that send it. */
import type { Resolver } from 'node:dns/promises';
import type { AccountConfig } from '../../config/config-accounts.ts';
import { examineDns, type DnsAdvice } from '../../service/examine-dns.ts';
import { hostOf } from '../../service/sender-dns.ts';
import type { Check } from '../../service/finding.ts';

const ADVICE: DnsAdvice = {
  records: 'Change the DNS record of the domain; email-worker dkim show prints the right records.',
  signing: 'Unless its mail server signs it: email-worker dkim generate creates keys.',
};

/** One check for each domain and each server that sends its mail. */
export function checkDns(
  accounts: readonly AccountConfig[],
  createResolver: () => Resolver,
): readonly Check[] {
  const asked = new Map<string, AccountConfig>();
  for (const account of accounts) {
    const { from, smtpUrl, dkim } = account;
    const signers = dkim?.keys.map(({ selector }) => `${selector}.${dkim.domain}`) ?? [];
    asked.set([from.domain, hostOf(smtpUrl), ...signers].join(' '), account);
  }
  return [...asked.values()].map((account) => ({
    area: 'DNS',
    name: `the DNS of ${account.from.domain}`,
    run: (signal) => examineDns(account, createResolver(), ADVICE, signal),
  }));
}
