/** The mail servers of an account: connection, TLS, certificate and log-in, for sending and for reading. */
import { createAccessTokens, type OAuth2Tokens } from '../../connectors/oauth2/access-tokens.ts';
import { createTokenStore } from '../../areas/accounts/oauth2-tokens.ts';
import type { Logger } from '../../platform/base/basics.ts';
import type { AccountConfig } from '../../config/config-accounts.ts';
import type { Config } from '../../config/config.ts';
import { tokenAccounts } from '../../service/create-access-tokens.ts';
import { examineImap, examineSmtp, OF_CONFIGURATION } from '../../service/examine-servers.ts';
import { warning, type Check, type Finding } from '../../service/finding.ts';
import type { PatientData } from './patient-data.ts';

export function checkMailServers(config: Config, data: PatientData, logger: Logger): readonly Check[] {
  return config.accounts.flatMap((account) => [
    {
      area: 'mail servers' as const,
      name: `the mail server that account ${account.id} sends by`,
      run: (signal: AbortSignal) =>
        withTokens(account, data, logger, (tokens) =>
          examineSmtp(account, config, tokens, OF_CONFIGURATION, signal),
        ),
    },
    {
      area: 'mail servers' as const,
      name: `the mailbox of account ${account.id}`,
      run: (signal: AbortSignal) =>
        withTokens(
          account,
          data,
          logger,
          async (tokens) => (await examineImap(account, tokens, OF_CONFIGURATION, signal)).findings,
        ),
    },
  ]);
}

/** A refresh token that a server replaces must be stored, so these accounts wait for the database. */
async function withTokens(
  account: AccountConfig,
  data: PatientData,
  logger: Logger,
  check: (tokens: OAuth2Tokens) => Promise<readonly Finding[]>,
): Promise<readonly Finding[]> {
  const tokens = createAccessTokens(tokenAccounts([account]), logger);
  try {
    if (account.oauth2 !== null) {
      const database = await data.database;
      if (database.kind !== 'open') {
        return [
          warning(
            `account ${account.id} logs in with OAuth2, which is not tried while the database is away`,
            'Run the doctor again when the database is available.',
          ),
        ];
      }
      tokens.keepIn(createTokenStore(database.pool));
    }
    return await check(tokens);
  } finally {
    await tokens.close();
  }
}
