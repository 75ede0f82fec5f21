import type { MessageId } from '../../core/message/message-id.ts';

/** The database's domain `message_id` allows nothing else; this is the one place where its text becomes a MessageId. */
export const toMessageId = (text: string) => text as MessageId;
