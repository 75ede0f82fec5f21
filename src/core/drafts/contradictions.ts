/** What no later change of other fields, and no person, makes a send: refused when the draft is written, as its send would be. */
import { invalidRequest } from '../errors.ts';

/** The answered email determines these. */
const OF_ANSWERED = ['account_id', 'thread_id', 'in_reply_to'];

/** What fills a template. */
const OF_TEMPLATE = ['template_version', 'variables'];

/** @param message as the caller wrote it. Throws `invalid_request`, which names the field. */
export function refuseContradictions(message: Readonly<Record<string, unknown>>, isAnswer: boolean): void {
  const given = (field: string) => (message[field] ?? null) !== null;
  const determined = isAnswer ? OF_ANSWERED.find(given) : undefined;
  if (determined !== undefined) {
    throw invalidRequest('not_with', { field: `message.${determined}`, other: 'answers' });
  }
  const field = given('template_id') ? undefined : OF_TEMPLATE.find(given);
  if (field !== undefined) {
    throw invalidRequest('only_with', { field: `message.${field}`, other: 'message.template_id' });
  }
}
