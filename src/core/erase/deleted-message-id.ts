/**
 * What stands for a Message-ID, or a meeting point, once the emails that bore and named it were deleted. The function `deleted_message_id`
 * of the schema computes the same.
 */
import { keyedDigest, type DigestKey } from './keyed-digest.ts';

const DOMAIN = '@deleted.invalid';

/** @param name as it is stored; of a name that stands for another one, the same */
export const deletedMessageId = (key: DigestKey, name: string): string =>
  name.endsWith(DOMAIN) ? name : keyedDigest(key, `message-id:${name}`) + DOMAIN;
