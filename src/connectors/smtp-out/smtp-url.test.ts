import { describe, expect, it } from 'vitest';
import { isLoopback } from '../../core/server-url.ts';
import { DEFAULT_SMTP_LIMITS, parseSmtpUrl } from './smtp-url.ts';

describe('parseSmtpUrl', () => {
  it('fills in the defaults', () => {
    expect(parseSmtpUrl('smtp://mail.example.com')).toEqual({
      ...DEFAULT_SMTP_LIMITS,
      host: 'mail.example.com',
      port: 587,
      tls: 'if_offered',
      credentials: null,
      authMethod: null,
      allowPlaintextAuth: false,
      tlsVerify: true,
      tlsCaFile: null,
      tlsServername: null,
      clientName: null,
    });
  });

  it.each([
    ['smtp://host.example/', { host: 'host.example', port: 587, tls: 'if_offered' }],
    ['smtps://host.example', { port: 465, tls: 'implicit' }],
    ['smtps://host.example:587', { port: 587, tls: 'implicit' }],
    ['smtp://host.example:25?starttls=required', { port: 25, tls: 'required' }],
    ['smtp://host.example?starttls=off', { tls: 'off' }],
    ['smtp://HOST.Example', { host: 'host.example' }],
    ['smtp://bücher.example', { host: 'xn--bcher-kva.example' }],
    ['smtp://[2001:db8::1]:2525', { host: '2001:db8::1', port: 2525 }],
    ['smtp://192.0.2.1', { host: '192.0.2.1' }],
    [
      'smtp://a%40b.example:p%3A%2F%40%C3%BC@host.example',
      { credentials: { user: 'a@b.example', password: 'p:/@ü' } },
    ],
    ['smtp://u:p@host.example?auth_method=login', { authMethod: 'LOGIN' }],
    [
      'smtp://host.example?tls_verify=false&tls_servername=x.example',
      { tlsVerify: false, tlsServername: 'x.example' },
    ],
    ['smtp://host.example?tls_ca=/etc/ssl/my%20ca.pem', { tlsCaFile: '/etc/ssl/my ca.pem' }],
    ['smtp://host.example?name=[192.0.2.7]', { clientName: '[192.0.2.7]' }],
    [
      'smtp://host.example?max_connections=3&data_timeout_ms=1000',
      { maxConnections: 3, dataTimeoutMs: 1000 },
    ],
  ])('reads %s', (url, part) => {
    expect(parseSmtpUrl(url)).toMatchObject(part);
  });

  it('takes other defaults, and the query wins over them', () => {
    const options = parseSmtpUrl('smtp://h.example?max_connections=3', {
      maxConnections: 5,
      dataTimeoutMs: 7,
    });
    expect(options).toMatchObject({ maxConnections: 3, dataTimeoutMs: 7 });
  });

  it.each<readonly [string, RegExp]>([
    ['mail.example.com', /not a URL/],
    ['http://host.example', /must start with/],
    ['smtp://', /host/],
    ['smtp://user:pa#ss@host.example', /./],
    ['smtp://user:pa/ss@host.example', /./],
    ['smtp://host.example/path', /path/],
    ['smtp://host.example:0', /port/],
    ['smtp://user@host.example', /together/],
    ['smtp://:secret@host.example', /together/],
    ['smtp://user:%zz@host.example', /percent/],
    ['smtp://user:a%00b@host.example', /NUL/],
    ['smtp://host.example?colour=red', /unknown parameter colour/],
    ['smtp://host.example?__proto__=red', /unknown parameter/],
    ['smtp://host.example?starttls=maybe', /starttls must be/],
    ['smtp://host.example?starttls=off&starttls=required', /twice/],
    ['smtp://host.example?name=', /empty/],
    ['smtp://host.example?name=a%0d%0ab', /name must be/],
    ['smtps://host.example?starttls=required', /no sense/],
    ['smtp://host.example?tls_verify=no', /tls_verify must be/],
    ...['0', '-1', '1.5', 'NaN', '1e9', '9999999999', '0x10'].map(
      (value) =>
        [`smtp://host.example?max_connections=${value}`, /max_connections must be/] as [string, RegExp],
    ),
  ])('refuses %s', (url, message) => {
    expect(() => parseSmtpUrl(url)).toThrow(message);
  });

  it.each([
    'smtp://user:hush%zz@h',
    'smtp://user:hush@h/p',
    'smtp://user:hush@h?x=1',
    'smtp://user:hush#@h',
    'x:hush',
  ])('does not repeat the password in the error of %s', (url) => {
    expect(() => parseSmtpUrl(url)).toThrow(
      expect.objectContaining({ message: expect.not.stringContaining('hush') }),
    );
  });
});

describe('isLoopback', () => {
  it.each([
    ['localhost', true],
    ['127.0.0.1', true],
    ['127.9.9.9', true],
    ['::1', true],
    ['127.0.0.1.example.com', false],
    ['localhost.example.com', false],
    ['192.0.2.1', false],
  ])('takes %s for this machine: %s', (host, expected) => {
    expect(isLoopback(host)).toBe(expected);
  });
});
