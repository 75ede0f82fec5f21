/** Puts mail into a maildir of a private Dovecot without involving the server: fast, and as if the mail had always been there. */
import { randomUUID } from 'node:crypto';
import { chown, mkdir, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { DovecotServer } from './dovecot-server.ts';
import { findMailOwner } from './dovecot-files.ts';
import type { MailUser } from './mail-servers.ts';

const AT_ONCE = 64;

/** `folder`: null for INBOX. The first message is the oldest. */
export async function fillMaildir(
  { root }: Pick<DovecotServer, 'root'>,
  user: MailUser,
  folder: string | null,
  messages: readonly string[],
): Promise<void> {
  const owner = await findMailOwner();
  const home = path.join(root, 'mail', user);
  const box = folder === null ? home : path.join(home, `.${folder}`);
  for (const place of [home, box, ...['cur', 'new', 'tmp'].map((name) => path.join(box, name))]) {
    await mkdir(place, { recursive: true });
    await chown(place, owner.uid, owner.gid);
  }
  const first = Math.floor(Date.now() / 1000) - messages.length;
  for (let start = 0; start < messages.length; start += AT_ONCE) {
    await Promise.all(
      messages.slice(start, start + AT_ONCE).map(async (raw, index) => {
        // Dovecot assigns UIDs in the order of these times.
        const name = `${first + start + index}.${randomUUID()}.host,S=${Buffer.byteLength(raw)}`;
        const file = path.join(box, 'cur', `${name}:2,S`);
        await writeFile(file, raw);
        await chown(file, owner.uid, owner.gid);
      }),
    );
  }
}

/** Makes Dovecot assign new UIDs, under a new UIDVALIDITY; only while it does not run. */
export async function forgetUids({ root }: Pick<DovecotServer, 'root'>, user: MailUser): Promise<void> {
  for (const name of [
    'dovecot-uidlist',
    'dovecot.index',
    'dovecot.index.log',
    'dovecot.index.cache',
    'dovecot.list.index',
    'dovecot.list.index.log',
  ]) {
    await rm(path.join(root, 'mail', user, name), { force: true });
  }
}
