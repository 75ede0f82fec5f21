/** Starts the listeners for received mail that the configuration names. */
import { createSenderCheck } from '../connectors/mail-auth/check-senders.ts';
import type { Listener } from '../connectors/smtp-in/open-server.ts';
import type { CertificateSource } from '../platform/base/tls.ts';
import type { SecurityLog } from '../platform/base/security-log.ts';
import { takeDelivery, type TakeDeliveryPorts } from '../areas/receive/take-delivery.ts';
import type { Config } from '../config/config.ts';
import { noteOpenListener } from './exposure.ts';
import { findProgram } from './find-program.ts';
import { listenFailure } from './listen-failure.ts';

const SENDER_PROGRAM = findProgram('sender-worker.js');

export interface ListenerParts extends TakeDeliveryPorts {
  /** Finds the account of an address. */
  readonly accountOf: (address: string) => string | null;
  readonly security: SecurityLog;
  /** null: no STARTTLS. */
  readonly certificate: CertificateSource | null;
}

/** Throws when one can't listen; then none does. */
export async function startListeners(
  config: Config,
  parts: ListenerParts,
): Promise<{ close(): Promise<void> }> {
  const { accountOf } = parts;
  const listeners: Listener[] = [];
  const { dnsServers, ...checked } = config.senderCheck;
  const check = createSenderCheck({ dnsServers, program: SENDER_PROGRAM, logger: parts.logger });
  const senders = { ...(checked.smtp ? { smtp: check } : {}), ...(checked.lmtp ? { lmtp: check } : {}) };
  const close = async () => {
    await Promise.all(listeners.map((listener) => listener.close()));
    await check.close();
  };
  try {
    for (const protocol of ['lmtp', 'smtp'] as const) {
      const listen = protocol === 'lmtp' ? config.lmtpListen : config.smtpListen;
      if (listen === null) continue;
      // Loaded only if there is a listener to start: other services save the memory of the library.
      const { startListener } = await import('../connectors/smtp-in/listener.ts');
      const variable = `${protocol.toUpperCase()}_LISTEN`;
      const listener = await startListener({
        protocol,
        ...listen,
        certificate: parts.certificate,
        maxBytes: config.maxInboundBytes,
        maxClients: config.listenClients.max,
        maxClientsPerAddress: config.listenClients.maxPerAddress,
        // Other parts of the stop need their time too; a message that is cut off is delivered again.
        closeTimeoutMs: config.shutdownTimeoutMs / 4,
        accountOf,
        take: (delivery) => takeDelivery({ ...parts, senders }, delivery),
        logger: parts.logger,
        security: parts.security,
      }).catch((error: unknown) => {
        throw listenFailure({ portVariable: variable, hostVariable: variable, ...listen }, error);
      });
      listeners.push(listener);
      noteOpenListener(parts.security, {
        protocol,
        address: listener.host,
        tls: parts.certificate !== null,
        login: false,
      });
      parts.logger.info({ protocol, address: listener.address }, 'listening for received mail');
    }
  } catch (error) {
    await close();
    throw error;
  }
  return { close };
}
