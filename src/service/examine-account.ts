/** A part of the composition root: tries the servers of an account before it is created, and the DNS of its address. */
import { Resolver } from 'node:dns/promises';
import { createAccessTokens } from '../connectors/oauth2/access-tokens.ts';
import { createTokenStore } from '../areas/accounts/oauth2-tokens.ts';
import type { AccountStep, ExamineAccount } from '../areas/accounts/account-ports.ts';
import { awaitsConsent, tokenAccounts } from './create-access-tokens.ts';
import { examineDns, type DnsAdvice } from './examine-dns.ts';
import { examineMessage } from './examine-message.ts';
import { examineImap, examineSmtp, OF_REQUEST } from './examine-servers.ts';
import { warning, type Finding } from './finding.ts';
import type { Parts } from './open-parts.ts';
import { withoutSecretsOf } from './without-secrets.ts';

/** Time limit of a query to one name server, in ms, and the number of tries. */
const RESOLVER = { timeout: 2000, tries: 2 };
/** Of a server with more, the first ones are shown. */
const MAX_FOLDERS = 500;

const ADVICE: DnsAdvice = {
  records: 'Change the DNS record of the domain.',
  signing: 'Unless its mail server signs it, give dkim.',
};

const of =
  (step: AccountStep) =>
  (finding: Finding): Finding & { readonly step: AccountStep } => ({ ...finding, step });

export function createExamineAccount({
  config,
  logger,
  clock,
  pool,
  registry,
}: Pick<Parts, 'config' | 'logger' | 'clock' | 'pool' | 'registry'>): ExamineAccount {
  const createResolver = (): Resolver => {
    const resolver = new Resolver(RESOLVER);
    const { dnsServers } = config.senderCheck;
    if (dnsServers.length > 0) resolver.setServers(dnsServers);
    return resolver;
  };
  return async (id, fields, { sendsMessage }, signal) => {
    const account = registry.parse(id, fields);
    const asking = examineDns(account, createResolver(), ADVICE, signal);
    if (account.oauth2 !== null && awaitsConsent(account.oauth2)) {
      const waiting = warning(
        'the servers were not tried: the owner of the mailboxes has not consented yet',
        'Create the account, and ask for the consent by POST /api/accounts/{id}/consent.',
        'consent_missing',
      );
      return { findings: [of('read')(waiting), ...(await asking).map(of('dns'))], folders: [] };
    }
    const tokens = createAccessTokens(tokenAccounts([account]), logger);
    // A refresh token may be good for one use: the next one is kept for the account that is created with it.
    tokens.keepIn(createTokenStore(pool));
    try {
      const [smtp, imap, dns] = await Promise.all([
        examineSmtp(account, config, tokens, OF_REQUEST, signal),
        examineImap(account, tokens, OF_REQUEST, signal),
        asking,
      ]);
      const outbox =
        account.smtpUrl === null
          ? [
              warning(
                'mail goes to the outbox folder and is not delivered',
                'Give smtp_url to send it.',
                'no_smtp',
              ),
            ]
          : [];
      // One that fails would only fail again.
      const works = [...smtp, ...imap.findings].every(({ grade }) => grade !== 'problem');
      const message =
        sendsMessage && works ? await examineMessage(account, { config, clock, tokens }, signal) : [];
      const findings = [
        ...[...outbox, ...smtp].map(of('send')),
        ...imap.findings.map(of('read')),
        ...dns.map(of('dns')),
        ...message.map(of('message')),
      ];
      // A server may quote what it refuses.
      return {
        findings: findings.map(withoutSecretsOf(account)),
        folders: imap.mailboxes.slice(0, MAX_FOLDERS),
      };
    } finally {
      await tokens.close();
    }
  };
}
