/** A part of the composition root: the transports by which accounts hand their mail over. */
import path from 'node:path';
import { createOutboxTransport } from '../connectors/smtp-out/outbox-transport.ts';
import { createSmtpTransport, type SmtpTransport } from '../connectors/smtp-out/smtp-transport.ts';
import { parseSmtpUrl, type SmtpOptions } from '../connectors/smtp-out/smtp-url.ts';
import type { LoginTokens } from '../connectors/smtp-out/open-session.ts';
import type { Logger } from '../platform/base/basics.ts';
import { traced } from '../platform/base/tracing.ts';
import type { Transport } from '../areas/send/transport-ports.ts';
import type { AccessTokens } from '../areas/accounts/token-ports.ts';
import type { AccountConfig } from '../config/config-accounts.ts';
import type { Config } from '../config/config.ts';
import { ConfigError } from '../config/config-error.ts';

export interface Transports {
  /** Of the account as it is when the message is handed over. Throws for an account that is not known. */
  of(accountId: string): Transport;
  /** The number of messages of the account that the queue may hand over at the same time. */
  queueSlotsOf(accountId: string): number;
  /** Replaces the accounts. A transport that is not used any more ends what is under way, and is closed. */
  follow(accounts: readonly AccountConfig[]): void;
  /** Connects to the mail server of every account of the configuration without sending; throws when one can't be reached. */
  verify(): Promise<void>;
  /** Ends sends under way at once; see `SmtpTransport.abort`. */
  abort(): void;
  close(): Promise<void>;
}

interface Made {
  readonly transport: Transport | SmtpTransport;
  readonly connections: number;
  /** What it was made of. */
  readonly settings: string;
  /** Messages that are being handed over by it: it is closed after them. */
  inUse: number;
}

/**
 * Does not connect yet. Throws ConfigError.
 *
 * @param tokens for the accounts whose URL has a user without a password
 */
export function createTransports(config: Config, tokens: AccessTokens, logger: Logger): Transports {
  const made = new Map<string, Made>();
  /** No account has them any more. */
  const retired = new Set<Made>();
  const closing = new Set<Promise<void>>();
  const declared = config.accounts.map(({ id }) => id);

  function make(account: AccountConfig, settings: string): Made {
    const { id, smtpUrl } = account;
    if (smtpUrl === null) {
      const outbox = path.join(config.dataDir, 'outbox');
      logger.warn(
        { accountId: id, outbox },
        'no SMTP_URL is set: emails are written to the outbox folder and not delivered',
      );
      const transport = createOutboxTransport(outbox);
      return { transport, connections: config.smtp.maxConnections, settings, inUse: 0 };
    }
    const options = readSmtpUrl(account, smtpUrl, config);
    const transport = createSmtpTransport({ ...options, tokens: tokensOf(id, tokens), logger });
    return { transport, connections: options.maxConnections, settings, inUse: 0 };
  }

  function retire(id: string, one: Made): void {
    made.delete(id);
    retired.add(one);
    closeUnused(one);
  }

  function closeUnused(one: Made): void {
    if (one.inUse > 0 || !retired.has(one)) return;
    const closed = one.transport
      .close()
      .catch((err: unknown) => logger.warn({ err }, 'a connection to a mail server could not be closed'))
      .finally(() => {
        retired.delete(one);
        closing.delete(closed);
      });
    closing.add(closed);
  }

  function follow(accounts: readonly AccountConfig[]): void {
    const ids = new Set(accounts.map(({ id }) => id));
    for (const [id, one] of made) if (!ids.has(id)) retire(id, one);
    for (const account of accounts) {
      const settings = JSON.stringify([account.smtpUrl, account.oauth2]);
      const known = made.get(account.id);
      if (known?.settings === settings) continue;
      if (known !== undefined) retire(account.id, known);
      made.set(account.id, make(account, settings));
    }
  }

  const find = (accountId: string): Made => {
    const one = made.get(accountId);
    if (one === undefined) throw new Error(`no transport for account ${accountId}`);
    return one;
  };

  follow(config.accounts);
  return {
    follow,
    of(accountId) {
      const transport: Transport = {
        async send(envelope, raw, beforeFirstByte) {
          const one = find(accountId);
          one.inUse += 1;
          try {
            return await one.transport.send(envelope, raw, beforeFirstByte);
          } finally {
            one.inUse -= 1;
            closeUnused(one);
          }
        },
        verify: () => find(accountId).transport.verify(),
        close: () => find(accountId).transport.close(),
      };
      find(accountId);
      return config.tracing === null ? transport : withSpans(transport, accountId);
    },
    queueSlotsOf: (accountId) => slotsOf(made.get(accountId)?.connections),
    async verify() {
      // Readiness is about this service, and not about the servers that callers of the API name.
      await Promise.all(declared.map((id) => find(id).transport.verify()));
    },
    abort() {
      for (const { transport } of [...made.values(), ...retired]) if ('abort' in transport) transport.abort();
    },
    async close() {
      await Promise.all([
        ...closing,
        ...[...made.values(), ...retired].map(({ transport }) => transport.close()),
      ]);
    },
  };
}

const withSpans = (transport: Transport, accountId: string): Transport => ({
  send: (envelope, raw, beforeFirstByte) =>
    traced(
      {
        name: 'hand over',
        kind: 'client',
        attributes: {
          'email_worker.account': accountId,
          'email_worker.recipients': envelope.rcptTo.length,
        },
      },
      () => transport.send(envelope, raw, beforeFirstByte),
      (result) => ({
        attributes: {
          'email_worker.outcome': result.kind,
          ...(result.reply === null ? {} : { 'smtp.response.status_code': result.reply.code }),
        },
        failure: result.kind === 'accepted' ? null : result.kind,
      }),
    ),
  verify: () => transport.verify(),
  close: () => transport.close(),
});

/** A fifth of the connections, and at least one, is reserved for synchronous sends: they never wait for a full queue. */
function slotsOf(connections = 1): number {
  return Math.max(1, Math.min(connections - 1, Math.floor(connections * 0.8)));
}

export function tokensOf(accountId: string, tokens: AccessTokens): LoginTokens {
  return {
    get: () => tokens.get(accountId),
    reject: (token) => tokens.reject(accountId, token),
  };
}

/** Throws ConfigError. */
export function readSmtpUrl(
  { id, oauth2 }: AccountConfig,
  smtpUrl: string,
  config: Pick<Config, 'smtp'>,
): SmtpOptions {
  try {
    return parseSmtpUrl(smtpUrl, config.smtp, oauth2 !== null);
  } catch (error) {
    throw new ConfigError(
      `SMTP_URL of account ${id}`,
      error instanceof Error ? error.message : String(error),
    );
  }
}
