/** A part of the composition root: the transports by which accounts hand their mail over. */
import path from 'node:path';
import { createOutboxTransport } from '../adapters/smtp-out/outbox-transport.ts';
import { createSmtpTransport, type SmtpTransport } from '../adapters/smtp-out/smtp-transport.ts';
import { parseSmtpUrl, type SmtpOptions } from '../adapters/smtp-out/smtp-url.ts';
import type { LoginTokens } from '../adapters/smtp-out/open-session.ts';
import type { Logger } from '../app/base/basics.ts';
import { traced } from '../app/base/tracing.ts';
import type { Transport } from '../app/send/transport-ports.ts';
import type { AccessTokens } from '../app/accounts/token-ports.ts';
import type { AccountConfig } from '../config/config-accounts.ts';
import type { Config } from '../config/config.ts';
import { ConfigError } from '../config/config-error.ts';

export interface Transports {
  /** Throws for an account that is not configured. */
  of(accountId: string): Transport;
  /** The number of messages of the account that the queue may hand over at the same time. */
  queueSlotsOf(accountId: string): number;
  /** Connects to every mail server without sending; throws when one can't be reached. */
  verify(): Promise<void>;
  /** Ends sends under way at once; see `SmtpTransport.abort`. */
  abort(): void;
  close(): Promise<void>;
}

/**
 * Does not connect yet. Throws ConfigError.
 *
 * @param tokens for the accounts whose URL has a user without a password
 */
export function createTransports(config: Config, tokens: AccessTokens, logger: Logger): Transports {
  const transports = new Map<string, Transport | SmtpTransport>();
  const connections = new Map<string, number>();
  for (const account of config.accounts) {
    const { id, smtpUrl } = account;
    if (smtpUrl === null) {
      const outbox = path.join(config.dataDir, 'outbox');
      logger.warn(
        { accountId: id, outbox },
        'no SMTP_URL is set: emails are written to the outbox folder and not delivered',
      );
      transports.set(id, createOutboxTransport(outbox));
      connections.set(id, config.smtp.maxConnections);
    } else {
      const options = readSmtpUrl(account, smtpUrl, config);
      transports.set(id, createSmtpTransport({ ...options, tokens: tokensOf(id, tokens), logger }));
      connections.set(id, options.maxConnections);
    }
  }
  return {
    of(accountId) {
      const transport = transports.get(accountId);
      if (transport === undefined) throw new Error(`no transport for account ${accountId}`);
      return config.tracing === null ? transport : withSpans(transport, accountId);
    },
    queueSlotsOf: (accountId) => slotsOf(connections.get(accountId)),
    async verify() {
      await Promise.all([...transports.values()].map((transport) => transport.verify()));
    },
    abort() {
      for (const transport of transports.values()) if ('abort' in transport) transport.abort();
    },
    async close() {
      await Promise.all([...transports.values()].map((transport) => transport.close()));
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
