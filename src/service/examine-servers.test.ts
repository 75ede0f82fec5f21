import { expect, it } from 'vitest';
import { MailboxError } from '../app/mailboxes/mailbox-ports.ts';
import { adviceFor, OF_CONFIGURATION } from './examine-servers.ts';

it.each([
  ['a log-in, whatever the server says of it', 'LOGIN was refused: password expired', true, /^Correct user/],
  [
    'a command that the server refuses',
    'LIST was refused: over quota, 535',
    false,
    /^See that the server runs/,
  ],
  ['a certificate that ended', 'certificate has expired', false, /renew its certificate/],
  [
    'a certificate of another name',
    "altnames: IP is not in the cert's list",
    false,
    /as its certificate does/,
  ],
  ['a name without an address', 'getaddrinfo ENOTFOUND imap.test', false, /^Correct the host/],
])('the advice is about %s', (_, reason, isLogIn, advice) => {
  expect(adviceFor(new MailboxError('refused', reason), isLogIn, 'imap', OF_CONFIGURATION)).toMatch(advice);
});
