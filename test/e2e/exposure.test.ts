/** The warnings at the start about ports and files that are more open than they need to be. */
import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createCertificate } from '../helpers/certificate.ts';
import { createTestDatabase, type TestDatabase } from '../helpers/postgres.ts';
import { disposeService, startServiceProcess, type ServiceProcess } from '../helpers/service-process.ts';
import { makeTempFolder } from '../helpers/temp-folder.ts';

let database: TestDatabase;
let folder: Awaited<ReturnType<typeof makeTempFolder>>;

beforeAll(async () => {
  [database, folder] = await Promise.all([createTestDatabase(), makeTempFolder()]);
});
afterAll(async () => {
  await folder.remove();
  await database.drop();
});

/** The security log of a start with these settings, in the order it was written. */
async function startWith(
  env: Readonly<Record<string, string>>,
  dataDir: string,
): Promise<readonly Record<string, unknown>[]> {
  let service: ServiceProcess | undefined;
  try {
    service = await startServiceProcess({
      env: { DATABASE_URL: database.connectionString, ...env },
      dataDir,
    });
    return service.log
      .filter((line) => line.includes('"log":"security"'))
      .map((line) => JSON.parse(line) as Record<string, unknown>);
  } finally {
    if (service !== undefined) await disposeService(service);
  }
}

it('warns of listeners that other machines reach, and of secrets that other users can read', async () => {
  const { cert, key } = createCertificate();
  const file = async (name: string, text: string, mode: number) => {
    await writeFile(join(folder.path, name), text);
    await chmod(join(folder.path, name), mode);
    return join(folder.path, name);
  };
  const dataDir = join(folder.path, 'open');
  await mkdir(dataDir);
  await chmod(dataDir, 0o755);
  const dotEnv = await file('open/.env', 'LOG_LEVEL=info', 0o604);
  const accounts = await file('accounts.json', '[{"id": "sales", "from": "sales@example.com"}]', 0o644);
  const keyFile = await file('key.pem', key, 0o640);
  const log = await startWith(
    {
      HOST: '0.0.0.0',
      LMTP_LISTEN: '127.0.0.1:0',
      SMTP_LISTEN: '0.0.0.0:0',
      ACCOUNTS_FILE: accounts,
      LISTEN_TLS_CERT_FILE: await file('cert.pem', cert, 0o644),
      LISTEN_TLS_KEY_FILE: keyFile,
    },
    dataDir,
  );
  expect(log.map(({ level: _level, time: _time, msg: _msg, log: _log, ...fields }) => fields)).toEqual([
    { event: 'listener.open', protocol: 'smtp', address: '0.0.0.0', missing: ['login'] },
    { event: 'file.readable', path: dotEnv, mode: '0604' },
    { event: 'file.readable', path: accounts, mode: '0644' },
    { event: 'file.readable', path: keyFile, mode: '0640' },
    { event: 'file.readable', path: dataDir, mode: '0755' },
    { event: 'listener.open', protocol: 'http', address: '0.0.0.0', missing: ['tls'] },
  ]);
  expect(log.every(({ level }) => level === 40)).toBe(true);
});

it(
  'does not warn of what is as it should be, such as a DATA_DIR that it makes itself',
  { tags: ['long'] },
  async () => {
    const made = async (name: string) => {
      await mkdir(join(folder.path, name), { mode: 0o700 });
      return join(folder.path, name);
    };
    const first = await made('first');
    const inside = {
      HOST: '127.0.0.1',
      SMTP_LISTEN: '127.0.0.1:0',
      DATA_DIR: join(first, 'data'),
      API_SECRET: '',
    };
    expect(await startWith(inside, first)).toEqual([]);
    const behindProxy = { HOST: '0.0.0.0', TRUSTED_PROXIES: '127.0.0.1' };
    expect(await startWith(behindProxy, await made('second'))).toEqual([]);
  },
);
