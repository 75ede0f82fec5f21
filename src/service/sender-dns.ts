/** Judges the DNS records of the domains that mail is sent from. */
import type { Resolver } from 'node:dns/promises';
import type { AccountConfig } from '../config/config-accounts.ts';
import { organizationalDomain } from '../core/address/organizational-domain.ts';
import {
  dkimRecord,
  judgeDkimRecord,
  judgeDmarc,
  judgeSpf,
  type RecordFinding,
} from '../core/delivery/sender-records.ts';

/** The errors of DNS for a name without such records. */
export const NO_RECORD: ReadonlySet<string> = new Set(['ENOTFOUND', 'ENODATA']);

/** The host of the mail server; null: there is none. */
export const hostOf = (smtpUrl: string | null): string | null =>
  smtpUrl === null ? null : new URL(smtpUrl).hostname;

/** The records of the signing keys, of SPF and of DMARC. */
export async function checkSenderRecords(
  { from, smtpUrl, dkim }: Pick<AccountConfig, 'from' | 'smtpUrl' | 'dkim'>,
  resolver: Resolver,
): Promise<readonly RecordFinding[]> {
  const { domain } = from;
  const findings: RecordFinding[] = [];
  const judge = async (name: string, toFinding: (published: readonly string[]) => RecordFinding) => {
    const answer = await lookUp(resolver, name);
    findings.push(
      'failure' in answer ? { kind: 'wrong', name, text: answer.failure } : toFinding(answer.records),
    );
  };
  for (const { selector, privateKey } of dkim?.keys ?? []) {
    const expected = dkimRecord(dkim?.domain ?? domain, selector, privateKey);
    await judge(expected.name, (published) => judgeDkimRecord(expected, published));
  }
  await judge(domain, (published) => judgeSpf(domain, hostOf(smtpUrl), published));
  const name = await dmarcName(resolver, domain);
  await judge(name, (published) =>
    judgeDmarc({ fromDomain: domain, dkimDomain: dkim?.domain ?? domain, name, published }),
  );
  return findings;
}

/** RFC 7489 §6.6.3: a domain without a record of its own uses that of its registered domain. */
async function dmarcName(resolver: Resolver, domain: string): Promise<string> {
  const own = await lookUp(resolver, `_dmarc.${domain}`);
  const has = 'failure' in own || own.records.some((value) => value.startsWith('v=DMARC1'));
  return `_dmarc.${has ? domain : organizationalDomain(domain)}`;
}

type Answer = { readonly records: readonly string[] } | { readonly failure: string };

async function lookUp(resolver: Resolver, name: string): Promise<Answer> {
  try {
    return { records: (await resolver.resolveTxt(name)).map((strings) => strings.join('')) };
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown error';
    if (NO_RECORD.has(code)) return { records: [] };
    return { failure: `DNS could not be asked: ${code}` };
  }
}
