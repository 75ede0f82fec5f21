import { expect, it } from 'vitest';
import { createServer, type AddressInfo } from 'node:net';
import { MailboxError } from '../areas/mailboxes/mailbox-ports.ts';
import { readAccount } from '../config/config-accounts.ts';
import { createAccessTokens } from '../connectors/oauth2/access-tokens.ts';
import { DEFAULT_SMTP_LIMITS } from '../connectors/smtp-out/smtp-url.ts';
import { silentLogger } from '../../test/helpers/silent-logger.ts';
import { examineSmtp, judge, OF_CONFIGURATION } from './examine-servers.ts';

it.each([
  [
    'a log-in, whatever the server says of it',
    'LOGIN was refused: password expired',
    true,
    /^Correct user/,
    'credentials_refused',
  ],
  [
    'a command that the server refuses',
    'LIST was refused: over quota, 535',
    false,
    /^See that the server runs/,
    'server_unreachable',
  ],
  [
    'a certificate that ended',
    'certificate has expired',
    false,
    /renew its certificate/,
    'certificate_expired',
  ],
  [
    'a certificate of another name',
    "altnames: IP is not in the cert's list",
    false,
    /as its certificate does/,
    'certificate_refused',
  ],
  [
    'a name without an address',
    'getaddrinfo ENOTFOUND imap.test',
    false,
    /^Correct the host/,
    'host_unknown',
  ],
  [
    'the kind of TLS',
    'EPROTO wrong version number',
    false,
    /^This port does not begin with TLS/,
    'tls_mismatch',
  ],
  ['STARTTLS', 'STARTTLS is not offered', false, /^The server offers no TLS/, 'tls_mismatch'],
  ['a server that does not greet', 'no greeting', false, /^If the port begins with TLS/, 'tls_mismatch'],
  ['a token', 'a token was refused: invalid_grant', false, /give consent again/, 'token_refused'],
  ['a client', 'a token was refused: invalid_client', false, /client_secret/, 'token_refused'],
  ['a scope', 'a token was refused: invalid_scope', false, /^Correct scope/, 'token_refused'],
  ['a provider', 'https://id.test gave no token: 500', false, /token_url/, 'token_refused'],
  ['a token at the server', 'XOAUTH2 was refused', false, /refuses the token/, 'token_refused'],
] as const)('the advice is about %s', (_, reason, isLogIn, advice, code) => {
  const found = judge(new MailboxError('refused', reason), isLogIn, 'imap', OF_CONFIGURATION);
  expect(found).toEqual({ code, advice: expect.stringMatching(advice) });
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
