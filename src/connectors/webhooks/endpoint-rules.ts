/** `EndpointRules`: the addresses that an endpoint may have. The addresses behind a name are checked when the connection is made. */
import { isIP } from 'node:net';
import type { EndpointRules } from '../../areas/webhooks/webhook-ports.ts';
import { WEBHOOK_URL_TEXTS, type Words } from '../../core/error-words.ts';
import { ServiceError } from '../../core/errors.ts';
import { isTextPort } from '../../core/edge/text-ports.ts';
import { plainHost, type TargetRules } from './public-addresses.ts';

const MAX_URL_CHARS = 2000;

export function createEndpointRules(targets: TargetRules): EndpointRules {
  return {
    check(text) {
      // The parser of the URL standard understands every way to write an address: `0x7f.1`, `2130706433`, `[::ffff:127.0.0.1]`.
      const url = text.length <= MAX_URL_CHARS && URL.canParse(text) ? new URL(text) : null;
      if (url === null) throw refused(WEBHOOK_URL_TEXTS.not_a_url);
      if (url.protocol !== 'https:' && url.protocol !== 'http:') throw refused(WEBHOOK_URL_TEXTS.scheme);
      if (url.username !== '' || url.password !== '') throw refused(WEBHOOK_URL_TEXTS.credentials);
      const host = plainHost(url.hostname);
      const isAllowed = targets.allowsHost(host);
      const isName = isIP(host) === 0;
      const isLocal = isName ? /(?:^|\.)localhost$/.test(host) : !targets.allowsAddress(host);
      const mayBeAllowed = isAllowed || (isName && targets.hasNetworks);
      if (isLocal && !mayBeAllowed) {
        throw new ServiceError('webhook_address_refused', { values: { value: url.hostname } });
      }
      if (url.protocol === 'http:' && !mayBeAllowed) throw refused(WEBHOOK_URL_TEXTS.without_tls);
      if (isTextPort(url.port) && !isAllowed) throw refused(WEBHOOK_URL_TEXTS.port);
      url.hash = '';
      return url.href;
    },
  };
}

const refused = (detail: Words): ServiceError =>
  new ServiceError('invalid_webhook_url', { values: { detail } });
