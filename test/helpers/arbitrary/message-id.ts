/** Generators of Message-IDs, both regular ones and those that broken software writes. */
import * as fc from 'fast-check';
import { isWorthlessMessageId, toMessageId, type MessageId } from '../../../src/core/message/message-id.ts';

export const messageIdArbitrary: fc.Arbitrary<MessageId> = fc
  .oneof(
    fc.stringMatching(/^[a-z0-9.]{1,20}@[a-z0-9.]{1,20}$/),
    fc.stringMatching(/^[!-;=?-~]{1,40}@[!-;=?-~]{1,40}$/),
    fc.stringMatching(/^[a-z]{100,400}@x$/),
  )
  .filter((text) => !isWorthlessMessageId(text))
  .map((text) => toMessageId(text)!);

export const messageIdListArbitrary: fc.Arbitrary<readonly MessageId[]> = fc.array(messageIdArbitrary, {
  maxLength: 150,
  size: 'large',
});
