/** SPF, DKIM, DMARC and ARC of a received email, as JSON. */
import type { XStatic } from 'typebox/schema';
import {
  AUTH_OUTCOMES,
  AUTH_VERDICTS,
  type MailAuthentication,
} from '../../../core/message/authentication.ts';
import { record } from '../schemas/schemas.ts';

const Outcome = {
  title: 'AuthenticationOutcome',
  $comment: 'RFC 8601 §2.7.',
  type: 'string',
  enum: AUTH_OUTCOMES,
} as const;
const Domain = { type: ['string', 'null'], description: 'Lower-case; null where none was told.' } as const;
const DomainResult = record('DomainResult', { result: Outcome, domain: Domain });

const verdict = {
  title: 'Verdict',
  type: 'string',
  enum: AUTH_VERDICTS,
  $comment:
    '`passed`: the domain of From is the sender’s. `failed`: DMARC says that it is not, or SPF does and nothing was ' +
    'signed, or From does not name one sender; warn of such an email. `unknown`: nothing says either.',
} as const;

/** For lists: GET /api/emails/{id} has the rest. */
export const NullableVerdict = {
  anyOf: [record('AuthenticationVerdict', { verdict }), { type: 'null' }],
  description: 'Of a received email; null when nothing that is trusted says anything.',
} as const;

export const Authentication = record('Authentication', {
  verdict,
  source: {
    type: 'string',
    enum: ['checked', 'header'],
    description:
      '`checked` by this service, or by a trusted mail server that wrote it into the `header`; signatures that it does not tell are checked by this service with LMTP_CHECK_SIGNATURES.',
  },
  spf: { anyOf: [DomainResult, { type: 'null' }] },
  dkim: {
    type: 'array',
    items: record('SignatureResult', {
      result: Outcome,
      domain: Domain,
      selector: { type: ['string', 'null'] },
    }),
    description: 'Each signature.',
  },
  dmarc: { anyOf: [DomainResult, { type: 'null' }] },
  arc: { anyOf: [Outcome, { type: 'null' }] },
});

export function toAuthenticationJson(
  authentication: MailAuthentication | null,
): XStatic<typeof Authentication> | null {
  if (authentication === null) return null;
  const { verdict, source, spf, dkim, dmarc, arc } = authentication;
  return { verdict, source, spf, dkim: [...dkim], dmarc, arc };
}
