/** A part of the composition root: the keys of accounts' secrets, of SECRETS_KEY or a file in DATA_DIR; see platform/base/sealing.ts. */
import { newSecretsKey, readSecretsKeys, writeSecretsKeys } from '../connectors/data-dir/secrets-key.ts';
import type { AccountSealer, AccountStore } from '../areas/accounts/account-ports.ts';
import { createSeal, type Seal } from '../platform/base/sealing.ts';
import type { Config } from '../config/config.ts';
import { ServiceError } from '../core/errors.ts';

type Settings = Pick<Config, 'dataDir' | 'secretsKeys'>;

const toSeal = (key: string): Seal => createSeal(key, 'accounts');

/** Throws when the file of keys exists and can't be read. */
export async function createAccountSealer({ dataDir, secretsKeys }: Settings): Promise<AccountSealer> {
  // A key in the file opens what it sealed before SECRETS_KEY was set.
  const readAll = async () => [...secretsKeys, ...(await readSecretsKeys(dataDir))].map(toSeal);
  let seals = await readAll();
  let making: Promise<void> | null = null;

  async function makeKey(): Promise<void> {
    await writeSecretsKeys(dataDir, [newSecretsKey()]);
    seals = await readAll();
  }

  return {
    keyIds: () => seals.map(({ keyId }) => keyId),
    async reread() {
      seals = await readAll();
    },
    open(accountId, sealed) {
      for (const seal of seals) {
        const text = seal.open(sealed, accountId);
        if (text !== null) return text;
      }
      return null;
    },
    async seal(accountId, text) {
      // One for all that ask at the same time: a second one would replace the first, which may have sealed something.
      if (seals.length === 0)
        await (making ??= makeKey().finally(() => {
          making = null;
        }));
      const [newest] = seals;
      if (newest === undefined) throw new ServiceError('secrets_key_missing');
      return { sealed: newest.seal(text, accountId), keyId: newest.keyId };
    },
  };
}

/**
 * Seals everything with the first key of SECRETS_KEY, or else with a new one in the file. At each moment the file opens everything, so it
 * may be interrupted and begun again. Throws `secrets_key_missing`.
 */
export async function rotateSecrets(
  { dataDir, secretsKeys }: Settings,
  store: Pick<AccountStore, 'sealAgain'>,
): Promise<number> {
  const kept = await readSecretsKeys(dataDir);
  const inFile = secretsKeys.length === 0 && kept.length > 0;
  const keys = inFile ? [newSecretsKey(), ...kept] : [...secretsKeys, ...kept];
  const [newest, ...others] = keys.map(toSeal);
  if (newest === undefined) throw new ServiceError('secrets_key_missing');
  if (inFile) await writeSecretsKeys(dataDir, keys);
  const changed = await store.sealAgain(newest.keyId, ({ id, sealed }) => {
    for (const seal of others) {
      const text = seal.open(sealed, id);
      if (text !== null) return { sealed: newest.seal(text, id), keyId: newest.keyId };
    }
    return null;
  });
  if (inFile) await writeSecretsKeys(dataDir, keys.slice(0, 1));
  return changed;
}
