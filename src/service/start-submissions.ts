/** A part of the composition root: the listeners for mail that other programs of the company send. */
import type { Listener } from '../connectors/smtp-in/open-server.ts';
import type { CertificateSource } from '../platform/base/tls.ts';
import type { Logger } from '../platform/base/basics.ts';
import type { SecurityLog } from '../platform/base/security-log.ts';
import { createLogIns, type LogInPorts } from '../areas/submission/log-in.ts';
import type { SubmissionUseCases } from '../areas/submission/submit-message.ts';
import type { Config } from '../config/config.ts';
import { listenFailure } from './listen-failure.ts';

export interface SubmissionParts extends LogInPorts {
  readonly submissions: SubmissionUseCases;
  /** null only when the configuration names no such listener. */
  readonly certificate: CertificateSource | null;
  readonly logger: Logger;
  readonly security: SecurityLog;
}

/** Throws when one can't listen; then none does. */
export async function startSubmissions(
  config: Config,
  { submissions, certificate, logger, security, ...logInPorts }: SubmissionParts,
): Promise<{ close(): Promise<void> }> {
  const listeners: Listener[] = [];
  const close = async () => {
    await Promise.all(listeners.map((listener) => listener.close()));
  };
  const logIns = createLogIns(logInPorts);
  try {
    for (const protocol of ['submission', 'submissions'] as const) {
      const listen = protocol === 'submission' ? config.submissionListen : config.submissionsListen;
      if (listen === null) continue;
      if (certificate === null) throw new Error('the configuration has a listener without its certificate');
      // Loaded only if there is a listener to start: other services save the memory of the library.
      const { startSubmission } = await import('../connectors/smtp-in/submission.ts');
      const variable = `${protocol.toUpperCase()}_LISTEN`;
      const listener = await startSubmission({
        protocol,
        ...listen,
        certificate,
        maxBytes: config.maxSubmissionBytes,
        maxClients: config.listenClients.max,
        maxClientsPerAddress: config.listenClients.maxPerAddress,
        maxRecipients: config.maxRecipients,
        // Other parts of the stop need their time too; a message that is cut off is submitted again.
        closeTimeoutMs: config.shutdownTimeoutMs / 4,
        logIns,
        submissions,
        logger,
        security,
      }).catch((error: unknown) => {
        throw listenFailure({ portVariable: variable, hostVariable: variable, ...listen }, error);
      });
      listeners.push(listener);
      logger.info({ protocol, address: listener.address }, 'listening for mail of other programs');
    }
  } catch (error) {
    await close();
    throw error;
  }
  return { close };
}
