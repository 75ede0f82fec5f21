/** Tools that send mail at once. A repeat of a call sends nothing again: see `deriveKey`. */
import { z } from 'zod';
import { path, type ApiCall } from './api-call.ts';
import { defineTool, type Tool } from './define-tool.ts';
import { FORWARD_FIELDS, id, INVITATION_ANSWER_FIELDS, REPLY_FIELDS, SEND_FIELDS } from './message-fields.ts';
import { idempotencyKey, Outcome, toOutcome } from './sending.ts';

const post = async (
  call: ApiCall,
  target: string,
  body: object,
  key: string,
): Promise<z.infer<typeof Outcome>> =>
  toOutcome(await call({ method: 'POST', path: target, body, idempotencyKey: key }));

const sendEmail = defineTool({
  name: 'send_email',
  title: 'Send an email',
  description:
    'Sends a new email now, or at send_at. To answer one, use reply_to_email; to have a person look first, create_draft.',
  rights: ['send'],
  effect: 'sends',
  input: z.strictObject({ ...SEND_FIELDS, idempotency_key: idempotencyKey }),
  output: Outcome,
  async run(call, { idempotency_key: key, ...body }, { derivedKey }) {
    return await post(call, '/api/send', body, key ?? derivedKey);
  },
});

const replyToEmail = defineTool({
  name: 'reply_to_email',
  title: 'Reply to an email',
  description:
    'Answers an email now, or at send_at, in its thread, with the text that it answers quoted below. Recipients and subject that are not given follow from the email.',
  rights: ['read', 'send'],
  effect: 'sends',
  input: z.strictObject({
    email_id: id,
    reply_all: z.boolean().default(false).describe('Also to the other recipients.'),
    ...REPLY_FIELDS,
    idempotency_key: idempotencyKey,
  }),
  output: Outcome,
  async run(call, { email_id: emailId, reply_all: all, idempotency_key: key, ...body }, { derivedKey }) {
    return await post(
      call,
      path('api', 'emails', emailId, all ? 'reply-all' : 'reply'),
      body,
      key ?? derivedKey,
    );
  },
});

const forwardEmail = defineTool({
  name: 'forward_email',
  title: 'Forward an email',
  description:
    'Sends an email on to others now, or at send_at, with its text and its files below the new text.',
  rights: ['read', 'send'],
  effect: 'sends',
  input: z.strictObject({ email_id: id, ...FORWARD_FIELDS, idempotency_key: idempotencyKey }),
  output: Outcome,
  async run(call, { email_id: emailId, idempotency_key: key, ...body }, { derivedKey }) {
    return await post(call, path('api', 'emails', emailId, 'forward'), body, key ?? derivedKey);
  },
});

const answerInvitation = defineTool({
  name: 'answer_invitation',
  title: 'Answer an invitation',
  description:
    'Accepts or declines the invitation in an email, now or at send_at: the organizer’s calendar notes it. A later answer replaces it.',
  rights: ['read', 'send'],
  effect: 'sends',
  input: z.strictObject({ email_id: id, ...INVITATION_ANSWER_FIELDS, idempotency_key: idempotencyKey }),
  output: Outcome,
  async run(call, { email_id: emailId, idempotency_key: key, ...body }, { derivedKey }) {
    return await post(call, path('api', 'emails', emailId, 'invitation-answer'), body, key ?? derivedKey);
  },
});

export const SENDING_TOOLS: readonly Tool[] = [sendEmail, replyToEmail, forwardEmail, answerInvitation];
