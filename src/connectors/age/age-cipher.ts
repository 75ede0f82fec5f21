/** Encrypts backups in the age format (https://age-encryption.org/v1), so that the `age` program can open them, too. */
import { createHmac, hkdfSync } from 'node:crypto';
import { Decrypter, Encrypter, generateX25519Identity, identityToRecipient } from 'age-encryption';
import type { Cipher } from '../../areas/backup/vault.ts';
import { BackupError } from '../../core/backup/manifest.ts';

/** Throws BackupError when it is no identity. @param identity `AGE-SECRET-KEY-1…` */
export async function createAgeCipher(identity: string): Promise<Cipher> {
  const encrypter = new Encrypter();
  const decrypter = new Decrypter();
  try {
    encrypter.addRecipient(await identityToRecipient(identity));
    decrypter.addIdentity(identity);
  } catch (cause) {
    throw new BackupError('BACKUP_KEY is not an age identity', { cause });
  }
  const nameKey = Buffer.from(hkdfSync('sha256', identity, '', 'email-worker backup names', 32));
  return {
    suffix: '.age',
    encrypt: (bytes) => encrypter.encrypt(bytes),
    decrypt: (bytes) => decrypter.decrypt(bytes),
    nameOf: (sha256) => createHmac('sha256', nameKey).update(sha256).digest('hex'),
  };
}

/** A new identity, as a file for BACKUP_KEY_FILE. */
export async function makeKeyFile(now: Date): Promise<string> {
  const identity = await generateX25519Identity();
  return `# created: ${now.toISOString()}\n# public key: ${await identityToRecipient(identity)}\n${identity}\n`;
}
