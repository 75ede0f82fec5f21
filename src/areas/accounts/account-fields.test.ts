import { expect, it } from 'vitest';
import { isSameMailbox } from './account-fields.ts';

it.each([
  ['the port left out', 'imaps://sales:a@imap.test', 'imaps://sales:b@imap.test:993', true],
  ['no TLS at first', 'imap://sales:a@imap.test', 'imap://sales:a@imap.test:143?starttls=required', true],
  ['another encoding of the user', 'imaps://a+b:p@imap.test', 'imaps://a%2Bb:p@imap.test', true],
  ['another case of the host', 'imaps://sales:a@IMAP.test', 'imaps://sales:a@imap.test', true],
  ['another port', 'imaps://sales:a@imap.test', 'imaps://sales:a@imap.test:1993', false],
  ['another user', 'imaps://sales:a@imap.test', 'imaps://shop:a@imap.test', false],
  ['another host', 'imaps://sales:a@imap.test', 'imaps://sales:a@imap.example', false],
  ['no mailbox before', null, 'imaps://sales:a@imap.test', false],
  ['no mailbox any more', 'imaps://sales:a@imap.test', null, true],
])('%s: how far a mailbox was read stays known or not', (_title, before, next, expected) => {
  expect(isSameMailbox(before, next)).toBe(expected);
});
