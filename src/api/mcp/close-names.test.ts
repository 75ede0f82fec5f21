import { expect, it } from 'vitest';
import { closeNames } from './close-names.ts';

const KNOWN = ['to', 'cc', 'bcc', 'subject', 'text_body', 'html_body', 'send_at', 'attachments', 'reply_all'];

it.each([
  ['text', ['text_body']],
  ['body', ['text_body', 'html_body']],
  ['sendAt', ['send_at']],
  ['attachment', ['attachments']],
  ['subjct', ['subject']],
  ['bc', ['cc', 'bcc']],
  ['replyToAll', ['reply_all']],
  ['foo', []],
  ['', []],
  ['x'.repeat(1_000_000), []],
])('names what %s may have meant', (name, expected) => {
  expect(closeNames(name, KNOWN)).toEqual(expected);
});
