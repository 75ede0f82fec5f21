/** The addresses that nothing is sent to, in the API: /api/suppressions. No account may send to them. */
import { SUPPRESSION_REASONS, type Suppression } from '../../core/delivery/suppression.ts';
import { operationsWith, type ActFields } from '../../platform/operation/declaration.ts';
import type { Value } from '../../platform/operation/values.ts';
import { PAGE_PARAMETERS, pageSchema } from '../../platform/schemas/page-schemas.ts';
import { EntryVersion, IF_THIS_VERSION, versionOf } from '../../platform/schemas/entry-version.ts';
import { EnhancedStatus, NullableUuid, record, Timestamp } from '../../platform/schemas/schemas.ts';
import type { ListedSuppression } from './suppression-store.ts';
import type { Suppressions } from './suppressions.ts';

const MAX_NOTE_CHARS = 1000;

const Reason = { title: 'SuppressionReason', type: 'string', enum: SUPPRESSION_REASONS } as const;

const SuppressionSchema = record('Suppression', {
  address: { type: 'string', description: 'In lower case.' },
  reason: Reason,
  since: Timestamp,
  enhanced_status: EnhancedStatus,
  diagnostic: {
    type: 'string',
    description: 'Reply of the refusing server, or the type of the complaint; may be empty.',
  },
  note: { type: ['string', 'null'], description: 'The value given with PUT.' },
  email_id: { ...NullableUuid, description: 'The sent email; null when added by hand.' },
  report_email_id: { ...NullableUuid, description: 'The report; null when added by hand.' },
  version: EntryVersion,
});

const SuppressBody = {
  type: 'object',
  title: 'SuppressRequest',
  additionalProperties: false,
  properties: {
    note: { type: ['string', 'null'], maxLength: MAX_NOTE_CHARS, description: 'Why, for people.' },
  },
} as const;

const Address = { type: 'string', minLength: 1, maxLength: 400 } as const;

const params = { address: { ...Address, description: 'One email address, URL-encoded.' } } as const;
const tag = 'Suppressions';
const ADDRESS_ERRORS = ['invalid_address', 'header_injection'] as const;

interface Deps {
  readonly suppressions: Suppressions;
}

const operation = operationsWith<Deps>();

export const suppressionOperations = [
  operation({
    id: 'listSuppressions',
    method: 'GET',
    path: '/api/suppressions',
    right: 'read',
    account: 'every',
    tag,
    summary: 'List suppressed addresses',
    description: 'The newest change first.',
    query: {
      address: { ...Address, description: 'Only this address.' },
      reason: { ...Reason, description: 'Only those with this reason.' },
      ...PAGE_PARAMETERS,
    },
    answer: 'One page.',
    output: pageSchema('Suppressions', 'suppressions', SuppressionSchema),
    errors: ADDRESS_ERRORS,
    async run(_caller, { address = null, reason = null, limit, cursor = null }, { suppressions }) {
      const page = await suppressions.list({ address, reason, limit, cursor });
      return { ...page, suppressions: page.suppressions.map(toShown) };
    },
  }),

  operation({
    id: 'getSuppression',
    method: 'GET',
    path: '/api/suppressions/:address',
    right: 'read',
    account: 'every',
    tag,
    summary: 'Read a suppressed address',
    description: '404 when the address is not suppressed.',
    params,
    answer: 'The entry.',
    output: SuppressionSchema,
    versionOf,
    errors: [...ADDRESS_ERRORS, 'suppression_not_found'],
    run: async (_caller, { address }, { suppressions }) => toShown(await suppressions.read(address)),
  }),

  operation({
    id: 'suppress',
    method: 'PUT',
    path: '/api/suppressions/:address',
    // The answer shows what was stored before.
    right: ['read', 'operate'],
    account: 'every',
    tag,
    summary: 'Suppress an address',
    description: 'Sets the reason to `manual`, also when the address was suppressed for another reason.',
    params,
    ifMatch: IF_THIS_VERSION,
    body: SuppressBody,
    bodyOptional: true,
    answer: 'The entry.',
    output: SuppressionSchema,
    versionOf,
    errors: [...ADDRESS_ERRORS, 'invalid_text', 'suppression_changed'],
    act: { event: 'suppression.set', what: ({ address }) => ({ address }), before, after: actFields },
    run: async (caller, { address, version, note = null }, { suppressions }) =>
      toShown(await suppressions.suppress(caller, address, version, note)),
  }),

  operation({
    id: 'liftSuppression',
    method: 'DELETE',
    path: '/api/suppressions/:address',
    right: 'operate',
    account: 'every',
    tag,
    summary: 'Lift the suppression of an address',
    description:
      'A later bounce or complaint suppresses the address again. Needs no body; a body with fields is refused.',
    params,
    ifMatch: IF_THIS_VERSION,
    answer: 'Not on the list any more.',
    output: record('LiftedSuppression', { address: { type: 'string' }, lifted_at: Timestamp }),
    errors: [...ADDRESS_ERRORS, 'suppression_not_found', 'suppression_changed'],
    act: { event: 'suppression.lifted', what: ({ address }) => ({ address }), before, after: () => null },
    run: (caller, { address, version }, { suppressions }) => suppressions.lift(caller, address, version),
  }),
];

function toShown(suppression: ListedSuppression): Value<typeof SuppressionSchema> {
  return { ...suppression, enhancedStatus: suppression.status, reportEmailId: suppression.reportId };
}

async function before({ address }: { readonly address: string }, { suppressions }: Deps): Promise<ActFields> {
  return actFields(await suppressions.read(address));
}

function actFields({ reason, since }: Pick<Suppression, 'reason' | 'since'>): ActFields {
  return { reason, since };
}
