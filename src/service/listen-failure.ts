/** Explains to the operator why an address from the configuration can't be listened on. */
import { ConfigError } from '../config/config-error.ts';

interface Listening {
  /** The name of the address in the configuration, such as `PORT` or `LMTP_LISTEN`. */
  readonly portVariable: string;
  readonly hostVariable: string;
  readonly host: string;
  readonly port: number;
}

/** Returns a ConfigError for faults of the configuration; any other error is returned unchanged. */
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
