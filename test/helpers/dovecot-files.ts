/** The files on disk that a private Dovecot needs, alone or beside a Postfix. */
import { chmod, chown, mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { createCertificate } from './certificate.ts';
import { findFreePort } from './free-port.ts';
import { dovecotConfig, type DovecotPlan } from './mail-server-configs.ts';

export const DOVECOT = '/usr/sbin/dovecot';

export const MAIL_USERS = {
  alice: { address: 'alice@example.test', password: 'alice: pässwörd/@' },
  bob: { address: 'bob@example.test', password: 'bob-password' },
} as const;

/** @param settings added to the configuration; later lines win */
export async function writeDovecotFiles(plan: DovecotPlan, settings = ''): Promise<void> {
  const { root, owner } = plan;
  const at = (...names: readonly string[]): string => path.join(root, ...names);
  // The servers access their sockets and mailboxes as users of their own.
  await chmod(root, 0o755);
  const { cert, key } = createCertificate();
  await writeFile(at('cert.pem'), cert);
  await writeFile(at('key.pem'), key, { mode: 0o600 });

  await mkdir(at('mail'));
  await chown(at('mail'), owner.uid, owner.gid);
  await writeFile(at('dovecot.conf'), dovecotConfig(plan) + settings);
  const passwords = Object.entries(plan.users).map(([name, { password }]) => {
    const base64 = Buffer.from(password).toString('base64');
    // A colon would end the field, so the passwords are encoded.
    return `${name}:{PLAIN.b64}${base64}\n`;
  });
  await writeFile(at('passwords'), passwords.join(''), { mode: 0o644 });
}

export async function findMailOwner(): Promise<{ readonly uid: number; readonly gid: number }> {
  return { uid: await findId('passwd', 'mail'), gid: await findId('group', 'mail') };
}

/** The packages create their users and groups in these files. */
export async function findId(database: 'passwd' | 'group', name: string): Promise<number> {
  const entries = (await readFile(`/etc/${database}`, 'utf8')).split('\n').map((line) => line.split(':'));
  const id = entries.find(([entryName]) => entryName === name)?.[2];
  if (id === undefined) throw new Error(`${name} is not in /etc/${database}`);
  return Number(id);
}

/** For servers that can't be given port 0. */
export async function findFreePorts(count: number): Promise<number[]> {
  const ports = new Set<number>();
  while (ports.size < count) ports.add(await findFreePort());
  return [...ports];
}
