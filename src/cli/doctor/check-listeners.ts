/** The addresses at which the service listens, or would listen: whether they are in use, and how long its certificates last. */
import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import { checkCertificate } from '../../connectors/tls/certificate.ts';
import type { Config } from '../../config/config.ts';
import type { TlsConfig } from '../../config/config-tls.ts';
import { listenFailure } from '../../service/listen-failure.ts';
import { formatError } from '../../core/causes.ts';
import { judgeEnd } from '../../service/certificate-end.ts';
import { ok, problem, type Check, type Finding } from '../../service/finding.ts';
import type { PatientData } from './patient-data.ts';

/** How long a listener may take to accept, in ms. */
const CONNECT_MS = 5000;

interface Listener {
  readonly what: string;
  readonly portVariable: string;
  readonly hostVariable: string;
  readonly host: string;
  readonly port: number;
}

export function checkListeners(config: Config, { dataDir }: PatientData): readonly Check[] {
  const isRunning = dataDir.kind === 'held';
  const listeners = listenersOf(config).map((listener): Check => ({
    area: 'listeners',
    name: listener.what,
    run: async (signal) => [isRunning ? await ofConnection(listener, signal) : await ofAddress(listener)],
  }));
  const pairs = [config.tls, config.listenTls].filter((tls) => tls !== null);
  const certificates = [...new Map(pairs.map((tls) => [tls.certFile, tls])).values()].map((tls): Check => ({
    area: 'listeners',
    name: tls.certVariable,
    run: async () => [ofCertificate(tls)],
  }));
  return [...listeners, ...certificates];
}

function listenersOf({
  host,
  port,
  smtpListen,
  lmtpListen,
  submissionListen,
  submissionsListen,
  metricsListen,
}: Config): readonly Listener[] {
  const others = [
    ['SMTP', 'SMTP_LISTEN', smtpListen],
    ['LMTP', 'LMTP_LISTEN', lmtpListen],
    ['submission', 'SUBMISSION_LISTEN', submissionListen],
    ['submission below TLS', 'SUBMISSIONS_LISTEN', submissionsListen],
    ['metrics', 'METRICS_LISTEN', metricsListen],
  ] as const;
  return [
    { what: 'HTTP', portVariable: 'PORT', hostVariable: 'HOST', host, port },
    ...others.flatMap(([what, variable, listen]) =>
      listen === null ? [] : [{ what, portVariable: variable, hostVariable: variable, ...listen }],
    ),
    // With port 0 the port differs at each start.
  ].filter((listener) => listener.port !== 0);
}

const formatPlace = ({ host, port }: Listener): string =>
  `${host.includes(':') ? `[${host}]` : host}:${port}`;

/** A service runs, so it must answer at this address. */
async function ofConnection(listener: Listener, signal: AbortSignal): Promise<Finding> {
  const { what, host, port } = listener;
  const reached = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host;
  const socket = connect({ host: reached, port });
  try {
    await once(socket, 'connect', { signal: AbortSignal.any([signal, AbortSignal.timeout(CONNECT_MS)]) });
    return ok(`the service listens for ${what} at ${formatPlace(listener)}`);
  } catch (error) {
    return problem(
      `nothing answers for ${what} at ${formatPlace(listener)}: ${formatError(error)}`,
      `Restart the service if ${listener.portVariable} was changed since its start; else read its log.`,
    );
  } finally {
    socket.destroy();
  }
}

/** No service runs, so the address must be free. */
async function ofAddress(listener: Listener): Promise<Finding> {
  const { what, host, port } = listener;
  const server = createServer();
  try {
    server.listen({ host, port, exclusive: true });
    await once(server, 'listening');
    return ok(`${formatPlace(listener)} is free for ${what}`);
  } catch (error) {
    return problem(
      `the service can't listen for ${what} at ${formatPlace(listener)}: ${formatError(listenFailure(listener, error))}`,
      `Stop what listens there, or change ${listener.portVariable}.`,
    );
  } finally {
    server.close();
  }
}

function ofCertificate(tls: TlsConfig): Finding {
  const advice = `Renew it and put it where ${tls.certVariable} says; the service reads it again by itself.`;
  try {
    return judgeEnd(`the certificate of ${tls.certVariable}`, checkCertificate(tls).expiresAt, advice);
  } catch (error) {
    return problem(`${tls.certVariable}: ${formatError(error)}`, advice);
  }
}
