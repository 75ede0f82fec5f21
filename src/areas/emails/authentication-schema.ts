/** SPF, DKIM, DMARC and ARC of a received email, as JSON. */
import type { XStatic } from 'typebox/schema';
import { AUTH_OUTCOMES, AUTH_VERDICTS, type MailAuthentication } from '../../core/message/authentication.ts';
import { record } from '../../platform/schemas/schemas.ts';

const Outcome = {
  title: 'AuthenticationOutcome',
  $comment: 'RFC 8601 §2.7.',
  type: 'string',
  enum: AUTH_OUTCOMES,
} as const;
const Domain = {
  type: ['string', 'null'],
  description: 'In lower case; null when none was reported.',
} as const;
const DomainResult = record('DomainResult', { result: Outcome, domain: Domain });

export const Verdict = {
  title: 'Verdict',
  type: 'string',
  enum: AUTH_VERDICTS,
  $comment:
    '`passed`: the sender owns the domain of From. `failed`: DMARC failed, or SPF failed and there is no signature, or From does ' +
    'not name exactly one sender; warn users about such an email. `unknown`: there is no evidence either way.',
} as const;

/** For lists: GET /api/emails/{id} has the rest. */
export const NullableVerdict = {
  anyOf: [record('AuthenticationVerdict', { verdict: Verdict }), { type: 'null' }],
  description: 'Authentication results of a received email; null when no trusted server reported any.',
} as const;

export const Authentication = record('Authentication', {
  verdict: Verdict,
  source: {
    type: 'string',
    enum: ['checked', 'header'],
    description:
      '`checked`: by this service. `header`: by a trusted mail server, in a header field; signatures missing from it are checked ' +
      'by this service with LMTP_CHECK_SIGNATURES.',
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
