import { describe, expect, it } from 'vitest';
import { DEFAULT_IMAP_LIMITS, parseImapUrl } from './imap-url.ts';

describe('parseImapUrl', () => {
  it('fills in the defaults', () => {
    expect(parseImapUrl('imaps://a%40b.example:p%3A%2F%40%C3%BC@imap.example.com', false)).toEqual({
      ...DEFAULT_IMAP_LIMITS,
      host: 'imap.example.com',
      port: 993,
      tls: 'implicit',
      user: 'a@b.example',
      password: 'p:/@ü',
      authMethod: null,
      allowPlaintextAuth: false,
      tlsVerify: true,
      tlsCaFile: null,
      tlsServername: null,
    });
  });

  it.each([
    ['imap://u:p@h.example', { port: 143, tls: 'if_offered' }],
    ['imap://u:p@h.example:1143?starttls=required', { port: 1143, tls: 'required' }],
    ['imap://u:p@127.0.0.1?starttls=off', { tls: 'off' }],
    ['imap://u:p@h.example?starttls=off&allow_plaintext_auth=true', { tls: 'off', allowPlaintextAuth: true }],
    ['imaps://u:p@h.example?auth_method=login', { authMethod: 'LOGIN' }],
    [
      'imaps://u:p@h.example?idle_renew_ms=60000&command_timeout_ms=5',
      { idleRenewMs: 60_000, commandTimeoutMs: 5 },
    ],
  ])('reads %s', (url, part) => {
    expect(parseImapUrl(url, false)).toMatchObject(part);
  });

  it.each<readonly [string, RegExp]>([
    ['smtp://u:p@h.example', /must start with imap:\/\/ or imaps:\/\//],
    ['imaps://h.example', /no user/],
    ['imaps://u@h.example', /no password/],
    ['imaps://u:p@h.example/INBOX', /path/],
    ['imaps://u:p@h.example?starttls=required', /makes no sense with imaps/],
    ['imap://u:p@h.example?starttls=off', /allow_plaintext_auth/],
    ['imaps://u:p@h.example?auth_method=CRAM-MD5', /auth_method must be PLAIN, LOGIN/],
    ['imaps://u:p@h.example?idle_renew_ms=1800000', /at most 1740000/],
    ['imaps://u:p@h.example?idle_renew_ms=0', /whole number/],
    ['imaps://u:p@h.example?name=x', /unknown parameter name/],
    ['imaps://u:p%00@h.example', /NUL/],
  ])('refuses %s', (url, message) => {
    expect(() => parseImapUrl(url, false)).toThrow(message);
  });

  it('needs no password where a token takes its place', () => {
    expect(parseImapUrl('imaps://u@h.example', true)).toMatchObject({ user: 'u', password: null });
  });
});
