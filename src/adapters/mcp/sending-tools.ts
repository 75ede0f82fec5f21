/** Tools that send mail. Only plain text: a person who reviews it sees everything that the agent wrote. */
import { z } from 'zod';
import { path } from './api-call.ts';
import { bodyOf, defineTool, type Tool } from './define-tool.ts';
import {
  MAX_WRITTEN_BODY_CHARS,
  MAX_WRITTEN_RECIPIENTS_CHARS,
  MAX_WRITTEN_SUBJECT_CHARS,
  toOutcome,
  type SendAnswer,
} from './sending.ts';

const id = z.uuid();
const addresses = z
  .string()
  .max(MAX_WRITTEN_RECIPIENTS_CHARS)
  .describe('Addresses, separated by commas, such as: Ann <ann@example.com>, bob@example.com');
const text = z.string().min(1).max(MAX_WRITTEN_BODY_CHARS).describe('Plain text.');
const idempotencyKey = z
  .string()
  .regex(/^[!-~]{1,256}$/)
  .optional()
  .describe('Your name for this email: a repeat with the same name sends nothing again.');

const sendEmail = defineTool({
  name: 'send_email',
  title: 'Send an email',
  description:
    'Sends a new email at once. To answer one, use reply_to_email; to have a person look first, create_draft.',
  right: 'send',
  effect: 'sends',
  input: {
    to: addresses,
    cc: addresses.optional(),
    subject: z.string().min(1).max(MAX_WRITTEN_SUBJECT_CHARS),
    text_body: text,
    customer_id: id.optional(),
    account_id: z.string().min(1).max(63).optional().describe('The account that sends.'),
    idempotency_key: idempotencyKey,
  },
  async run(call, { idempotency_key: key, ...body }) {
    const request = { method: 'POST', path: '/api/send', body, idempotencyKey: key } as const;
    return toOutcome(bodyOf<SendAnswer>(await call(request)));
  },
});

const replyToEmail = defineTool({
  name: 'reply_to_email',
  title: 'Reply to an email',
  description:
    'Answers an email at once, in its thread, with the text it answers quoted below. Recipients and subject follow from the email.',
  right: 'send',
  effect: 'sends',
  input: {
    email_id: id,
    text_body: text,
    to_all: z.boolean().default(false).describe('Also to its other recipients.'),
    idempotency_key: idempotencyKey,
  },
  async run(call, { email_id: emailId, to_all: toAll, text_body, idempotency_key: key }) {
    const request = {
      method: 'POST',
      path: path('api', 'emails', emailId, toAll ? 'reply-all' : 'reply'),
      body: { text_body },
      idempotencyKey: key,
    } as const;
    return toOutcome(bodyOf<SendAnswer>(await call(request)));
  },
});

export const SENDING_TOOLS: readonly Tool[] = [sendEmail, replyToEmail];
