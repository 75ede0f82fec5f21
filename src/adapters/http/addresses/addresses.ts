/** GET /api/addresses: known addresses, for a field in which recipients are typed. */
import { MAX_COMPLETED } from '../../../app/addresses/use-cases.ts';
import { MAX_QUERY_CHARS } from '../../../core/search/query.ts';
import type { HttpContext, HttpServer } from '../answers/context.ts';
import { errorResponses } from '../../../platform/schemas/error-schemas.ts';
import { AccountId, ACCOUNT_QUERY_ERRORS } from '../../../platform/schemas/page-schemas.ts';
import { jsonResponse, NullableUuid, record, Timestamp } from '../../../platform/schemas/schemas.ts';

const DEFAULT_LIMIT = 10;

const AddressesQuery = {
  type: 'object',
  // A misspelt filter must not return more than was asked for.
  additionalProperties: false,
  properties: {
    q: {
      type: 'string',
      minLength: 1,
      maxLength: MAX_QUERY_CHARS,
      description:
        'Typed text: prefixes of the address, of its domain (`@acme`) or of words of its name; all must match. Absent: the most ' +
        'used addresses.',
    },
    account_id: { ...AccountId, description: 'Only addresses of mail of this account.' },
    limit: {
      type: 'integer',
      minimum: 1,
      maximum: MAX_COMPLETED,
      default: DEFAULT_LIMIT,
      description: 'Maximum number of addresses.',
    },
  },
} as const;

const KnownAddress = record('KnownAddress', {
  address: { type: 'string', description: '`local@domain`, lower-case.' },
  name: {
    type: 'string',
    description:
      'The newest display name from our own mail or from a proven sender, else from an unproven sender; empty when there is none.',
  },
  customer_id: { ...NullableUuid, description: 'Customer by the rules; null when there is none or several.' },
  customer_name: { type: ['string', 'null'], description: 'The name of that customer; null: none.' },
  written_to: { type: 'boolean', description: 'True when mail was sent to the address from here.' },
  last_at: { ...Timestamp, description: 'Date of the newest email from or to the address.' },
  suppressed: { type: 'boolean', description: 'True when sends to the address are suppressed.' },
});

export function registerAddressRoutes(app: HttpServer, { applicationFor }: HttpContext): void {
  app.get(
    '/api/addresses',
    {
      schema: {
        operationId: 'completeAddresses',
        right: 'read',
        tags: ['Customers'],
        summary: 'Suggest addresses',
        description:
          'Addresses of received and sent mail; recent, frequent and written-to addresses come first. Automatic mail and mail ' +
          'that failed authentication add no address; the addresses of the accounts are left out. A new address appears a moment ' +
          'after its email.',
        querystring: AddressesQuery,
        response: {
          200: jsonResponse(
            'The best matches.',
            record('KnownAddresses', { addresses: { type: 'array', items: KnownAddress } }),
          ),
          ...errorResponses(...ACCOUNT_QUERY_ERRORS),
        },
      },
    },
    async (request) => {
      const { q = null, account_id: accountId = null, limit = DEFAULT_LIMIT } = request.query;
      const found = await applicationFor(request).completeAddresses({ q, accountId, limit });
      return {
        addresses: found.map((one) => ({
          address: one.address,
          name: one.name,
          customer_id: one.customerId,
          customer_name: one.customerName,
          written_to: one.isWrittenTo,
          last_at: one.lastAt.toISOString(),
          suppressed: one.isSuppressed,
        })),
      };
    },
  );
}
