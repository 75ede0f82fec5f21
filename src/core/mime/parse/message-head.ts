/**
 * The authors of a message, read from its first bytes alone: for checks of the sender, which must look at the From that is recorded and shown.
 */
import type { Address } from '../../address/address.ts';
import type { FromFields } from '../../message/authentication.ts';
import type { HeaderField } from './header-fields.ts';
import { toParseLimits } from './parse-limits.ts';
import { readFrom } from './read-from.ts';
import { StructureReader } from './structure.ts';

export interface MessageHead {
  readonly from: readonly Address[];
  readonly fromFields: FromFields;
  /** The offset of the body in the message. */
  readonly bodyStart: number;
}

/** @param head the message, or its beginning: the header and more, or more than MAX_HEADER_BYTES */
export function readHead(head: Buffer): MessageHead {
  const limits = toParseLimits({});
  const reader = new StructureReader(limits);
  reader.write(head);
  const { root } = reader.end();
  const from = readFrom(root.fields, limits.addresses).addresses;
  return { from, fromFields: toFromFields(root.fields, from), bodyStart: root.start };
}

/** @param from the result of readFrom */
export function toFromFields(fields: readonly HeaderField[], from: readonly Address[]): FromFields {
  return {
    count: fields.filter(({ name }) => name === 'from').length,
    domains: from.map(({ domain }) => domain).filter((domain) => domain !== ''),
  };
}
