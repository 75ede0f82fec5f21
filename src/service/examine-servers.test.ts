import { expect, it } from 'vitest';
import { createServer, type AddressInfo } from 'node:net';
import { MailboxError } from '../areas/mailboxes/mailbox-ports.ts';
import { readAccount } from '../config/config-accounts.ts';
import { createAccessTokens } from '../connectors/oauth2/access-tokens.ts';
import { DEFAULT_SMTP_LIMITS } from '../connectors/smtp-out/smtp-url.ts';
import { silentLogger } from '../../test/helpers/silent-logger.ts';
import { adviceFor, examineSmtp, OF_CONFIGURATION } from './examine-servers.ts';

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

it('ends with its caller, also while a server sends something now and then', async () => {
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.write('220 mx.test\r\n');
    const timer = setInterval(() => socket.write('250-STILL\r\n'), 20);
    socket.on('close', () => clearInterval(timer));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const account = readAccount(
    'slow',
    { from: 'a@example.com', smtp_url: `smtp://127.0.0.1:${port}` },
    { nameOf: (field) => field ?? 'account', expand: (text) => text, cwd: null, clients: null },
  );
  try {
    const tokens = createAccessTokens([], silentLogger);
    const signal = AbortSignal.timeout(300);
    const [finding] = await examineSmtp(
      account,
      { smtp: DEFAULT_SMTP_LIMITS },
      tokens,
      OF_CONFIGURATION,
      signal,
    );
    expect(finding).toMatchObject({ grade: 'problem' });
    expect(finding?.text).toContain('it took too long');
  } finally {
    await new Promise((resolve) => server.close(resolve));
  }
});
