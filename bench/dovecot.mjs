/** A private Dovecot 2.3 with LMTP and IMAP for one mailbox, as packaged by Debian; it writes each mail to the disk. Needs root. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, chownSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { freePort } from './free-port.mjs';

const OWNER = 8;

/** @param format maildir or mdbox */
export async function startDovecot(format = 'maildir') {
  const root = mkdtempSync(path.join(tmpdir(), 'email-worker-dovecot-'));
  const [lmtpPort, imapPort] = [await freePort(), await freePort()];
  chmodSync(root, 0o755);
  mkdirSync(path.join(root, 'mail'));
  chownSync(path.join(root, 'mail'), OWNER, OWNER);
  const config = path.join(root, 'dovecot.conf');
  writeFileSync(
    config,
    `
base_dir = ${root}/run
state_dir = ${root}/run
log_path = ${root}/dovecot.log
protocols = imap lmtp
listen = 127.0.0.1
ssl = no
disable_plaintext_auth = no
auth_username_format = %n
first_valid_uid = 1
first_valid_gid = 1
mail_location = ${format}:${root}/mail/%n
mail_uid = ${OWNER}
mail_gid = ${OWNER}
mail_fsync = optimized
mail_max_userip_connections = 100
passdb {
  driver = static
  args = password=secret
}
userdb {
  driver = static
  args = uid=${OWNER} gid=${OWNER} home=${root}/mail/%n
}
service imap-login {
  inet_listener imap {
    port = ${imapPort}
  }
  inet_listener imaps {
    port = 0
  }
}
service lmtp {
  inet_listener lmtp {
    port = ${lmtpPort}
  }
}
`,
  );
  const child = spawn('/usr/sbin/dovecot', ['-F', '-c', config], { stdio: 'ignore' });
  const exited = once(child, 'exit');
  for (let tries = 0; ; tries += 1) {
    const socket = connect(lmtpPort, '127.0.0.1');
    const isThere = await Promise.race([
      once(socket, 'connect').then(() => true),
      once(socket, 'error').then(() => false),
    ]).catch(() => false);
    socket.destroy();
    if (isThere) break;
    if (tries > 100) throw new Error(`Dovecot did not start: ${readFileSync(`${root}/dovecot.log`, 'utf8')}`);
    await wait(100);
  }
  return {
    pid: child.pid,
    lmtpPort,
    imapPort,
    root,
    async stop() {
      child.kill('SIGTERM');
      await exited;
      rmSync(root, { recursive: true, force: true });
    },
  };
}
