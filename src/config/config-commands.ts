/** The settings of commands that ask a running service. The service itself reads none of them. */
import { ConfigError } from './config-error.ts';
import { secretVariable, variable } from './variable.ts';

export const COMMAND_VARIABLES = {
  /** null: the service of this very configuration. */
  serviceUrl: variable('EMAIL_WORKER_URL', {
    parse: readServiceUrl,
    defaultText: 'the service that `HOST` and `PORT` configure',
    meaning: 'Only for commands: URL of the service, such as `https://mail.example.com`.',
  }),
  /** null: the API secret of this configuration, for its own service. */
  serviceKey: secretVariable('EMAIL_WORKER_KEY', {
    parse(value, name) {
      // RFC 9110 §5.5: the characters that a header field may contain. The value is never quoted.
      if (value !== null && !/^[\x21-\x7e]+$/.test(value))
        throw new ConfigError(name, 'must be printable ASCII without spaces');
      return value;
    },
    defaultText: 'the API secret of this configuration',
    meaning: 'Only for commands: key for the service; required with `EMAIL_WORKER_URL`.',
  }),
};

function readServiceUrl(text: string | null, name: string): URL | null {
  if (text === null) return null;
  return parseServiceUrl(text, (reason) => new ConfigError(name, reason));
}

/**
 * The address of a service, as an operator names it. The address itself is never quoted: it may contain a password.
 *
 * @param toError makes the error to throw from the reason
 */
export function parseServiceUrl(text: string, toError: (reason: string) => Error): URL {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || !/^https?:$/.test(url.protocol))
    throw toError('must be an address such as https://mail.example.com');
  if (url.username !== '' || url.password !== '')
    throw toError('must hold no user and no password: the service is asked with a key, EMAIL_WORKER_KEY');
  if (url.search !== '' || url.hash !== '') throw toError('must end with its path');
  return url;
}
