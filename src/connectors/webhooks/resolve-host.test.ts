import { Resolver } from 'node:dns/promises';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { resolveHost, resolvePublicName } from './resolve-host.ts';

const failing = (code: string) => () => Promise.reject(Object.assign(new Error(), { code }));
function answer(four: () => Promise<string[]>, six: () => Promise<string[]>): void {
  vi.spyOn(Resolver.prototype, 'resolve4').mockImplementation(four as never);
  vi.spyOn(Resolver.prototype, 'resolve6').mockImplementation(six as never);
}
afterEach(() => vi.restoreAllMocks());

describe('a name', () => {
  it.each(['ENOTFOUND', 'ENODATA'])(
    'that no server has (%s) is in the hosts file for operators only',
    async (code) => {
      answer(failing(code), failing(code));
      expect(await resolveHost('localhost')).toContainEqual(expect.stringMatching(/^(?:127\.0\.0\.1|::1)$/));
      await expect(resolvePublicName('localhost')).rejects.toMatchObject({ code: 'ENOTFOUND' });
    },
  );

  it.each([resolveHost, resolvePublicName])(
    'has the addresses of both kinds, also when one is missing',
    async (resolve) => {
      answer(
        async () => ['192.0.2.1'],
        async () => ['2001:db8::1'],
      );
      expect(await resolve('a.test')).toEqual(['192.0.2.1', '2001:db8::1']);
      answer(failing('ETIMEOUT'), async () => ['2001:db8::1']);
      expect(await resolve('a.test')).toEqual(['2001:db8::1']);
    },
  );

  it.each([resolveHost, resolvePublicName])('fails as its servers do', async (resolve) => {
    answer(failing('ESERVFAIL'), failing('ENODATA'));
    await expect(resolve('localhost')).rejects.toMatchObject({ code: 'ESERVFAIL' });
  });
});
