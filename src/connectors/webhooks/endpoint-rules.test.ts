import { describe, expect, it } from 'vitest';
import { createEndpointRules } from './endpoint-rules.ts';
import { createTargetRules, isPublic } from './public-addresses.ts';

const NOTHING = { networks: [], hosts: [] };
const check = (url: string, allow: { networks?: string[]; hosts?: string[] } = {}) =>
  createEndpointRules(createTargetRules({ ...NOTHING, ...allow })).check(url);

describe('an address of an endpoint', () => {
  it.each([
    ['https://crm.example.com/hook?a=b', 'https://crm.example.com/hook?a=b'],
    ['HTTPS://CRM.Example.com:8443/x#part', 'https://crm.example.com:8443/x'],
    ['https://8.8.8.8/', 'https://8.8.8.8/'],
    ['https://[2606:4700::1]/', 'https://[2606:4700::1]/'],
    ['https://bücher.example/', 'https://xn--bcher-kva.example/'],
  ])('may be %s', (url, usual) => {
    expect(check(url)).toBe(usual);
  });

  it.each([
    'https://127.0.0.1/',
    'https://2130706433/',
    'https://0177.0.0.1/',
    'https://0x7f.1/',
    'https://127.1/',
    'https://0/',
    'https://0.0.0.0/',
    'https://[::]/',
    'https://[::1]/',
    'https://[::ffff:127.0.0.1]/',
    'https://[::ffff:7f00:1]/',
    'https://[::127.0.0.1]/',
    'https://[64:ff9b::7f00:1]/',
    'https://[64:ff9b:1::a00:1]/',
    'https://[2002:7f00:1::]/',
    'https://[2001::1]/',
    'https://[fe80::1]/',
    'https://[fc00::1]/',
    'https://[fd00:ec2::254]/',
    'https://[fec0::1]/',
    'https://[ff02::1]/',
    'https://10.1.2.3/',
    'https://172.16.0.1/',
    'https://192.168.0.1/',
    'https://100.64.0.1/',
    'https://100.100.100.200/',
    'https://169.254.169.254/latest/meta-data/',
    'https://168.63.129.16/',
    'https://192.0.0.192/',
    'https://198.18.0.1/',
    'https://224.0.0.1/',
    'https://255.255.255.255/',
    'https://240.0.0.1/',
    'https://localhost/',
    'https://localhost./',
    'https://LOCALHOST/',
    'https://api.localhost/',
    'https://①②⑦.0.0.1/',
    'https://127。0。0。1/',
    'https://%31%32%37.0.0.1/',
  ])('is refused when it is not public: %s', (url) => {
    expect(() => check(url)).toThrow(expect.objectContaining({ code: 'webhook_address_refused' }));
  });

  it.each([
    'crm.example.com',
    '//crm.example.com/',
    'https://',
    'https://[::1',
    'https://1.2.3.4.5.6:99999/',
    'https://user@crm.example.com/',
    'https://user:secret@crm.example.com/',
    'https://:secret@crm.example.com/',
    'http://crm.example.com/',
    'ftp://crm.example.com/',
    'file:///etc/passwd',
    'javascript:alert(1)',
    'data:text/plain,a',
    'gopher://crm.example.com/',
    'ws://crm.example.com/',
    'https://crm.example.com:25/',
    'https://crm.example.com:587/',
    `https://crm.example.com/${'a'.repeat(2000)}`,
    'https://crm.example.com:0x50/',
    '',
  ])('is refused when it is none, or says what it may not: %s', (url) => {
    expect(() => check(url)).toThrow(expect.objectContaining({ code: 'invalid_webhook_url' }));
  });

  it('may be what the operator allows, also without TLS', () => {
    expect(check('http://crm.internal/', { hosts: ['crm.internal'] })).toBe('http://crm.internal/');
    expect(check('http://crm.internal./', { hosts: ['crm.internal'] })).toBe('http://crm.internal./');
    expect(check('https://localhost:8443/', { hosts: ['localhost'] })).toBe('https://localhost:8443/');
    expect(check('http://10.1.2.3/', { networks: ['10.1.0.0/16'] })).toBe('http://10.1.2.3/');
    expect(check('http://[fd00::7]/', { networks: ['fd00::/8'] })).toBe('http://[fd00::7]/');
    expect(check('http://[::ffff:10.1.2.3]/', { networks: ['10.1.2.3'] })).toBe('http://[::ffff:a01:203]/');
    // The name may lead into the network, which is checked when the connection is made.
    expect(check('http://crm.internal/', { networks: ['10.1.0.0/16'] })).toBe('http://crm.internal/');
    expect(() => check('https://10.2.0.1/', { networks: ['10.1.0.0/16'] })).toThrow(
      'webhook_address_refused',
    );
    expect(() => check('http://other.internal/', { hosts: ['crm.internal'] })).toThrow('invalid_webhook_url');
    expect(() => check('https://a.crm.internal.localhost/', { hosts: ['crm.internal'] })).toThrow(
      'webhook_address_refused',
    );
  });
});

it('knows what is public', () => {
  for (const address of [
    '1.1.1.1',
    '93.184.215.14',
    '2a00:1450:4001::1',
    '::ffff:8.8.8.8',
    '64:ff9b::808:808',
  ])
    expect(isPublic(address), address).toBe(true);
  for (const address of ['', 'a', '127.0.0.1', '::ffff:10.0.0.1', '64:ff9b::a9fe:a9fe', 'fe80::1%1'])
    expect(isPublic(address), address).toBe(false);
});
