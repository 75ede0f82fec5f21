/** Why an address that the configuration names can't be listened on, for the operator. */
import { ConfigError } from '../config/config-error.ts';

interface Listening {
  /** What the configuration calls the address, such as `PORT` or `LMTP_LISTEN`. */
  readonly portVariable: string;
  readonly hostVariable: string;
  readonly host: string;
  readonly port: number;
}

/** Faults of the configuration; any other error comes back as it is. */
export function listenFailure(
  { portVariable, hostVariable, host, port }: Listening,
  error: unknown,
): unknown {
  const address = `${host.includes(':') ? `[${host}]` : host}:${port}`;
  switch (error instanceof Error && 'code' in error ? error.code : undefined) {
    case 'EADDRINUSE':
      return new ConfigError(
        portVariable,
        `another process listens on ${address} already; stop it, or choose another port`,
      );
    case 'EACCES':
      return new ConfigError(
        portVariable,
        `this user may not listen on ${address}; choose a port above 1023, or allow it`,
      );
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return new ConfigError(hostVariable, `${host} is no address of this machine`);
    default:
      return error;
  }
}
