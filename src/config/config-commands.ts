/** What commands need that ask a running service. The service itself reads none of it. */
import { ConfigError } from './config-error.ts';
import { secretVariable, variable } from './variable.ts';

export const COMMAND_VARIABLES = {
  /** Ends without a slash; null: the service of this very configuration. */
  serviceUrl: variable('EMAIL_WORKER_URL', {
    parse: readServiceUrl,
    defaultText: 'the service that `HOST` and `PORT` configure',
    meaning:
      'Only for commands: where they reach the service that they ask, such as `https://mail.example.com`.',
  }),
  /** null: the API secret, for the service of this configuration. */
  serviceKey: secretVariable('EMAIL_WORKER_KEY', {
    parse(value, name) {
      // RFC 9110 §5.5: what can stand in a header field. The value is never quoted.
      if (value !== null && !/^[\x21-\x7e]+$/.test(value))
        throw new ConfigError(name, 'must be printable ASCII without spaces');
      return value;
    },
    defaultText: 'the API secret of this configuration',
    meaning: 'Only for commands: the key that they ask the service with; needed with `EMAIL_WORKER_URL`.',
  }),
};

function readServiceUrl(text: string | null, name: string): URL | null {
  if (text === null) return null;
  const url = URL.canParse(text) ? new URL(text) : null;
  const isGood =
    url !== null &&
    /^https?:$/.test(url.protocol) &&
    `${url.username}${url.password}${url.search}${url.hash}` === '';
  if (!isGood) throw new ConfigError(name, 'must be an address such as https://mail.example.com');
  return url;
}
