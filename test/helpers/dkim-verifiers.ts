/** Independent verifiers of DKIM signatures: mailauth, and OpenDKIM from .ci/install-servers.sh. Keys come from the test, not from DNS. */
import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { dkimVerify } from 'mailauth/lib/dkim/verify.js';
import { skipWithout } from './skip.ts';
import { makeTempFolder } from './temp-folder.ts';

const OPENDKIM = '/usr/sbin/opendkim';

/** Name → the value of its TXT record. */
export type PublishedKeys = Readonly<Record<string, string>>;

/** Results of the signatures in order, such as `pass`. */
export async function verifyByMailauth(message: Buffer, keys: PublishedKeys): Promise<readonly string[]> {
  const resolver = async (name: string) => [[keys[name] ?? '']];
  const { results } = await dkimVerify(message, { resolver: resolver as never });
  return results.map(({ status }: { readonly status: { readonly result: string } }) => status.result);
}

/** For `describe.skipIf`; see skip.ts. */
export const skipWithoutOpendkim = (): boolean => skipWithout('tests with OpenDKIM', OPENDKIM);

/** The results for the signatures in its Authentication-Results, such as `pass rsa-sha256`. */
export async function verifyByOpendkim(message: Buffer, keys: PublishedKeys): Promise<readonly string[]> {
  const folder = await makeTempFolder();
  const at = (name: string) => path.join(folder.path, name);
  try {
    await writeFile(at('message'), message);
    await writeFile(
      at('keys'),
      Object.entries(keys)
        .map(([name, value]) => `${name} ${value}\n`)
        .join(''),
    );
    await writeFile(at('conf'), `TestPublicKeys ${at('keys')}\nMode v\nSyslog no\nAlwaysAddARHeader yes\n`);
    const { stdout } = await promisify(execFile)(
      OPENDKIM,
      ['-x', at('conf'), '-t', at('message'), '-v', '-v'],
      {
        maxBuffer: 64 * 1024 * 1024,
      },
    );
    return [...stdout.matchAll(/dkim=(\w+)[^;']*?header\.a=([\w-]+)/g)].map(
      ([, result = '', type = '']) => `${result} ${type}`,
    );
  } finally {
    await folder.remove();
  }
}
