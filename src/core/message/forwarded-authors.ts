/** The authors of the emails that an email forwards: attached ones, then those whose header is quoted in its text. */
import type { Address } from '../address/address.ts';
import { parseLenientAddressList } from '../address/lenient-address-list.ts';
import type { ParsedMessage } from '../mime/parse/parsed-message.ts';
import { sendersOfBlocks } from '../mime/text/header-block.ts';

/** Ours: the first ones are those that were forwarded last. */
const MAX_ATTACHED = 3;

/** @param parseHead reads the beginning of an attached message */
export function forwardedAuthors(
  { reports, text }: Pick<ParsedMessage, 'reports' | 'text'>,
  parseHead: (bytes: Buffer) => Pick<ParsedMessage, 'from'>,
): readonly Address[] {
  const attached = reports
    .filter(({ contentType }) => contentType === 'message/rfc822')
    .slice(0, MAX_ATTACHED);
  return [
    ...attached.flatMap(({ bytes }) => parseHead(bytes).from),
    ...sendersOfBlocks(text).flatMap((sender) => parseLenientAddressList(sender, 1).addresses),
  ];
}
