/** Verifiers of DKIM signatures that are not ours: mailauth, and OpenDKIM of .ci/install-servers.sh. Keys come from the test, not from DNS. */
import { execFile } from 'node:child_process';
import { accessSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { dkimVerify } from 'mailauth/lib/dkim/verify.js';
import { makeTempFolder } from './temp-folder.ts';

const OPENDKIM = '/usr/sbin/opendkim';

/** Name → the value of its TXT record. */
export type PublishedKeys = Readonly<Record<string, string>>;

/** Results of the signatures in their order, such as `pass`. */
export async function verifyByMailauth(message: Buffer, keys: PublishedKeys): Promise<readonly string[]> {
  const resolver = async (name: string) => [[keys[name] ?? '']];
  const { results } = await dkimVerify(message, { resolver: resolver as never });
  return results.map(({ status }: { readonly status: { readonly result: string } }) => status.result);
}

/** For `describe.skipIf`: true without OpenDKIM, after saying so; with REQUIRE_E2E=1 that is an error. */
export function skipWithoutOpendkim(): boolean {
  try {
    accessSync(OPENDKIM);
    return false;
  } catch {
    const reason = `${OPENDKIM} is missing: run .ci/install-servers.sh`;
    if (process.env.REQUIRE_E2E === '1') throw new Error(`REQUIRE_E2E=1, but ${reason}`);
    process.stderr.write(`skipped: tests with OpenDKIM: ${reason}\n`);
    return true;
  }
}

/** What its Authentication-Results say of the signatures, such as `pass rsa-sha256`. */
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
