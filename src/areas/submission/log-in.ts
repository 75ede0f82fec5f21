/** Log-ins of programs that submit mail: the password is a key with the right to send, or a secret of `API_SECRET`. */
import type { ErrorCode } from '../../core/error-registry.ts';
import { ServiceError } from '../../core/errors.ts';
import { parseApiKey } from '../../core/keys/api-key.ts';
import type { Caller } from '../../core/keys/caller.ts';
import { allows } from '../../core/keys/rights.ts';
import { refuse } from '../../core/submission/refusal.ts';
import type { AccessLog } from '../../platform/access/access-log.ts';
import { hashSecret } from '../../platform/access/hash-secret.ts';
import type { KeyRing, ShownKey } from '../../platform/access/key-ring.ts';
import { createSecretHolders, createSecretMatcher } from '../../platform/access/secret-holders.ts';
import type { CallerShares } from '../../platform/http/connections/caller-shares.ts';
import type { LoginFailures } from '../../platform/http/connections/login-failures.ts';

export interface LogInPorts {
  readonly secrets: readonly string[];
  readonly keys: Pick<KeyRing, 'findByHash' | 'whyRefused'>;
  /** Shared with HTTP: an address has its guesses once. */
  readonly failures: Pick<LoginFailures, 'note'>;
  /** Shared with HTTP: a message counts as a request. */
  readonly shares: Pick<CallerShares, 'count'>;
  readonly access: Pick<AccessLog, 'noteLogin' | 'noteRight'>;
}

/** Of one connection. Holds no password. */
export interface LogIn {
  /** The key as it is now; null: it is no longer valid. Throws `database_unavailable`. */
  find(): ShownKey | null | Promise<ShownKey | null>;
}

export interface LogIns {
  /**
   * Throws RefusedSubmission, a temporary one when a key can't be checked.
   *
   * @param address of the client; see addressGroup
   */
  logIn(password: string, address: string): Promise<LogIn>;
  /**
   * For each message of a client that has logged in. Throws RefusedSubmission when its key is no longer valid, or sends more than its share,
   * and `database_unavailable`.
   */
  countMessage(logIn: LogIn): Promise<Caller>;
  /** The same, for a message that was counted: messages may outlive their keys. */
  callerOf(logIn: LogIn): Promise<Caller>;
}

const REASONS: Partial<Readonly<Record<ErrorCode, string>>> = {
  expired_key: 'this key has expired',
  revoked_key: 'this key was revoked, or its secret was replaced',
};

export function createLogIns({ secrets, keys, failures, shares, access }: LogInPorts): LogIns {
  const holderOf = createSecretMatcher(createSecretHolders(secrets));

  const openedBy = (password: string): LogIn => {
    const holder = holderOf(Buffer.from(password, 'utf8'));
    if (holder !== null) return { find: () => holder };
    const key = parseApiKey(password);
    if (key === null) return { find: () => null };
    const digest = hashSecret(key.secret);
    return { find: () => keys.findByHash(key.id, digest) };
  };

  const mayFind = async (opened: LogIn): Promise<ShownKey | null> => {
    try {
      return await opened.find();
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error;
      // RFC 4954 §6: a client tries again later, and does not ask its user for another password.
      throw refuse(454, '4.7.0', 'log-ins can not be checked now, try again later');
    }
  };

  const findUsable = async (opened: LogIn): Promise<ShownKey> => {
    const shown = await opened.find();
    if (shown === null) throw refuse(530, '5.7.0', 'this key is no longer valid, log in again');
    return shown;
  };

  return {
    async logIn(password, address) {
      const opened = openedBy(password);
      const shown = await mayFind(opened);
      if (shown === null) {
        const code = keys.whyRefused(password) ?? 'invalid_credentials';
        access.noteLogin(address, parseApiKey(password)?.id ?? null, code);
        const waitSeconds = failures.note(address, 'wrong');
        if (waitSeconds !== null)
          throw refuse(421, '4.7.0', `too many failed log-ins, try again in ${waitSeconds} seconds`);
        throw refuse(535, '5.7.8', REASONS[code] ?? 'the password is no key of this service');
      }
      const { author, rights } = shown.caller;
      if (!allows(rights, 'send')) {
        access.noteRight(author, 'send');
        throw refuse(535, '5.7.8', 'this key has no right to send');
      }
      return opened;
    },
    async countMessage(opened) {
      const shown = await findUsable(opened);
      const waitSeconds = shares.count(shown);
      if (waitSeconds !== null)
        throw refuse(450, '4.7.0', `too many messages, try again in ${waitSeconds} seconds`);
      return shown.caller;
    },
    async callerOf(opened) {
      return (await findUsable(opened)).caller;
    },
  };
}
