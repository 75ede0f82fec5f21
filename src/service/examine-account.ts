/** A part of the composition root: tries the servers of an account before it is created. */
import { createAccessTokens } from '../connectors/oauth2/access-tokens.ts';
import { createTokenStore } from '../areas/accounts/oauth2-tokens.ts';
import type { ExamineAccount } from '../areas/accounts/account-ports.ts';
import { awaitsConsent, tokenAccounts } from './create-access-tokens.ts';
import { examineImap, examineSmtp, OF_REQUEST } from './examine-servers.ts';
import { warning } from './finding.ts';
import type { Parts } from './open-parts.ts';
import { withoutSecretsOf } from './without-secrets.ts';

export function createExamineAccount({
  config,
  logger,
  pool,
  registry,
}: Pick<Parts, 'config' | 'logger' | 'pool' | 'registry'>): ExamineAccount {
  return async (id, fields, signal) => {
    const account = registry.parse(id, fields);
    if (account.oauth2 !== null && awaitsConsent(account.oauth2)) {
      return [
        warning(
          'the servers were not tried: the owner of the mailboxes has not consented yet',
          'Create the account, and ask for the consent by POST /api/accounts/{id}/consent.',
        ),
      ];
    }
    const tokens = createAccessTokens(tokenAccounts([account]), logger);
    // A refresh token may be good for one use: the next one is kept for the account that is created with it.
    tokens.keepIn(createTokenStore(pool));
    try {
      const [smtp, imap] = await Promise.all([
        examineSmtp(account, config, tokens, OF_REQUEST, signal),
        examineImap(account, tokens, OF_REQUEST, signal),
      ]);
      const outbox =
        account.smtpUrl === null
          ? [warning('mail goes to the outbox folder and is not delivered', 'Give smtp_url to send it.')]
          : [];
      // A server may quote what it refuses.
      return [...outbox, ...smtp, ...imap].map(withoutSecretsOf(account));
    } finally {
      await tokens.close();
    }
  };
}
