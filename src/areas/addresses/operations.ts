/** GET /api/addresses: known addresses, for a field in which recipients are typed. */
import { MAX_QUERY_CHARS } from '../../core/search/query.ts';
import { operationsWith } from '../../platform/operation/declaration.ts';
import { AccountId } from '../../platform/schemas/page-schemas.ts';
import { NullableUuid, record, Timestamp } from '../../platform/schemas/schemas.ts';
import { MAX_COMPLETED, type AddressUseCases } from './use-cases.ts';

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

const operation = operationsWith<{ readonly addresses: AddressUseCases }>();

export const addressOperations = [
  operation({
    id: 'completeAddresses',
    method: 'GET',
    path: '/api/addresses',
    right: 'read',
    account: 'list',
    tag: 'Customers',
    summary: 'Suggest addresses',
    description:
      'Addresses of received and sent mail; recent, frequent and written-to addresses come first. Automatic mail and mail ' +
      'that failed authentication add no address; the addresses of the accounts are left out. A new address appears a moment ' +
      'after its email.',
    query: {
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
        default: 10,
        description: 'Maximum number of addresses.',
      },
    },
    answer: 'The best matches.',
    output: record('KnownAddresses', { addresses: { type: 'array', items: KnownAddress } }),
    async run(_caller, { q = null, accountId = null, limit, within }, { addresses }) {
      const found = await addresses.completeAddresses({ q, accountId, limit, within });
      return {
        addresses: found.map(({ isWrittenTo, isSuppressed, ...one }) => ({
          ...one,
          writtenTo: isWrittenTo,
          suppressed: isSuppressed,
        })),
      };
    },
  }),
];
