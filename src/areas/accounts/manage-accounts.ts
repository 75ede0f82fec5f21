/** Creates, changes, pauses and deletes the accounts that are no part of a configuration. Every process follows by itself. */
import { isDeepStrictEqual } from 'node:util';
import { ServiceError } from '../../core/errors.ts';
import type { OpenSettings } from '../../core/accounts/open-settings.ts';
import { keyIdOf, type Caller } from '../../core/keys/caller.ts';
import type { ConsentClient, ConsentGrant } from './consent-ports.ts';
import {
  isSameMailbox,
  joinFields,
  splitFields,
  type AccountFields,
  type AccountSecrets,
} from './account-fields.ts';
import type {
  AccountDirectory,
  AccountSealer,
  AccountStore,
  DeleteAccountOptions,
  ExamineAccount,
  NewAccount,
  StoredAccount,
} from './account-ports.ts';

export interface ManageAccountsPorts {
  readonly store: AccountStore;
  readonly sealer: AccountSealer;
  readonly directory: AccountDirectory;
  readonly examine: ExamineAccount;
  /** Throws `invalid_account`. */
  readonly checkSignatures: (open: OpenSettings) => Promise<void>;
  /** True: mail is recorded under the id. */
  readonly isUsed: (accountId: string) => Promise<boolean>;
}

export type ManagedAccounts = ReturnType<typeof createManagedAccounts>;

/** The owner of a mailbox gave access to it to certain servers: no other one gets its tokens unless they are given again. Throws `invalid_account`. */
function requireSameServers(old: AccountSecrets, next: AccountSecrets): void {
  const hostsOf = ({ smtp_url: smtp, imap_url: imap }: AccountSecrets) =>
    [smtp, imap].flatMap((url) => (url === null ? [] : [new URL(url).hostname]));
  const known = hostsOf(old);
  if (hostsOf(next).every((host) => known.includes(host))) return;
  throw new ServiceError('invalid_account', {
    values: { field: 'oauth2' },
    details: 'must be given again with another server, which would get its tokens',
  });
}

/** `GET /api/accounts/{id}` can't reach them. */
const RESERVED: ReadonlySet<string> = new Set(['settings']);

/** Another request may change an account at the same moment. */
const MAX_TRIES = 5;

/** All throw `database_unavailable`; those of an existing account throw `account_not_found`, and `account_declared` for one of the configuration. */
export function createManagedAccounts({
  store,
  sealer,
  directory,
  examine,
  checkSignatures,
  isUsed,
}: ManageAccountsPorts) {
  /** What was stored is followed here before the answer; a failure is made up for by the watch. */
  const followed = async <T>(work: Promise<T>): Promise<T> => {
    const done = await work;
    await directory.refresh().catch(() => undefined);
    return done;
  };

  const refuseDeclared = (id: string): void => {
    if (directory.isDeclared(id)) throw new ServiceError('account_declared', { values: { value: id } });
  };

  const found = (account: StoredAccount | null): StoredAccount => {
    if (account === null) throw new ServiceError('account_not_found');
    return account;
  };

  const keyIds = async () => {
    await sealer.reread();
    return sealer.keyIds();
  };

  /** Throws `invalid_account`. */
  function checked(id: string, fields: AccountFields): ReturnType<typeof splitFields> {
    directory.check(id, fields);
    return splitFields(fields);
  }

  async function toSealed(
    id: string,
    { open, secrets }: ReturnType<typeof splitFields>,
  ): Promise<NewAccount> {
    // Before a key is made here that no other process has.
    if (await store.hasOtherKeys(await keyIds())) throw new ServiceError('secrets_key_missing');
    return { id, open, ...(await sealer.seal(id, JSON.stringify(secrets))) };
  }

  /** Throws `account_declared`, `account_not_found`, `secrets_key_missing`. */
  async function open(id: string) {
    refuseDeclared(id);
    const account = found(await store.read(id));
    await sealer.reread();
    const text = sealer.open(id, account.sealed);
    if (text === null) throw new ServiceError('secrets_key_missing');
    // The text was authenticated, so `toSealed` wrote it.
    const secrets = JSON.parse(text) as AccountSecrets;
    return { account, secrets, fields: joinFields(account.open, secrets) };
  }

  return {
    examine,

    /** Who asks the owner of the mailboxes for access; null: nobody can, for that reason. Throws `secrets_key_missing`. */
    async consentClient(
      id: string,
    ): Promise<{ readonly client: ConsentClient | null; readonly reason: string }> {
      const { fields } = await open(id);
      try {
        return {
          client: directory.consentClientOf(id, fields),
          reason: 'the account has no oauth2 with provider or issuer, or has a grant',
        };
      } catch (error) {
        // Such as an account whose application is in the environment of other processes only.
        if (!(error instanceof ServiceError) || error.code !== 'invalid_account') throw error;
        return { client: null, reason: `${String(error.field)} of the account: ${String(error.details)}` };
      }
    },

    /**
     * Keeps what the owner consented to; all other settings stay. False: the account is not the one that was asked for any more. Throws
     * `secrets_key_missing`, and `invalid_account` when the provider named what can't be used.
     */
    async connect(
      id: string,
      { refreshToken, tokenUrl }: ConsentGrant,
      isSame: (client: ConsentClient) => boolean,
    ): Promise<boolean> {
      for (let attempt = 1; ; attempt += 1) {
        const { account, secrets, fields } = await open(id);
        const client = directory.consentClientOf(id, fields);
        if (client === null || !isSame(client)) return false;
        const oauth2 = {
          ...account.open.oauth2,
          ...secrets.oauth2,
          refresh_token: refreshToken,
          ...(client.provider.kind === 'issuer' ? { token_url: tokenUrl } : {}),
        };
        const next = await toSealed(id, checked(id, { ...fields, oauth2 }));
        try {
          found(await followed(store.change(next, account.version, keyIds, 'same')));
          return true;
        } catch (error) {
          const isBeaten = error instanceof ServiceError && error.code === 'account_changed';
          if (!isBeaten || attempt >= MAX_TRIES) throw error;
        }
      }
    },

    /**
     * Throws `invalid_account`, `account_exists`, `account_has_mail`, `too_many_accounts`, `secrets_key_missing`.
     *
     * @param adoptMail the account continues mail that is recorded under its id
     */
    async create(caller: Caller, id: string, fields: AccountFields, adoptMail: boolean): Promise<void> {
      refuseDeclared(id);
      if (RESERVED.has(id))
        throw new ServiceError('invalid_account', {
          values: { field: 'id' },
          details: 'is the name of an operation',
        });
      const next = checked(id, fields);
      await checkSignatures(next.open);
      const account = await toSealed(id, next);
      if ((await store.read(id)) !== null)
        throw new ServiceError('account_exists', { values: { value: id } });
      if (!adoptMail && (await isUsed(id)))
        throw new ServiceError('account_has_mail', { values: { value: id } });
      await followed(store.create(account, keyIds, keyIdOf(caller)));
    },

    /** Absent fields stay, null removes one; what changes nothing is no change. Throws `invalid_account`, `account_changed`, `secrets_key_missing`. */
    async change(caller: Caller, id: string, version: number, change: AccountFields): Promise<void> {
      const { account: before, secrets, fields } = await open(id);
      // Another version would lose what was changed since it was read, if the one in the request comes to be meanwhile.
      if (before.version !== version)
        throw new ServiceError('account_changed', { details: String(before.version) });
      const next = checked(id, { ...fields, ...change });
      // Until there is a consent, nothing can be taken elsewhere: a link is for the servers of its moment.
      const hasTokens =
        secrets.oauth2 !== null &&
        (secrets.oauth2.refresh_token !== null || before.open.oauth2?.grant !== null);
      if (hasTokens && change['oauth2'] === undefined) requireSameServers(secrets, next.secrets);
      if (isDeepStrictEqual(next, { open: before.open, secrets })) return;
      await checkSignatures(next.open);
      const account = await toSealed(id, next);
      const mailboxes = !isSameMailbox(secrets.imap_url, next.secrets.imap_url)
        ? { otherBy: keyIdOf(caller) }
        : isDeepStrictEqual(before.open.capture, next.open.capture)
          ? 'same'
          : 'again';
      found(await followed(store.change(account, version, keyIds, mailboxes)));
    },

    async setPaused(caller: Caller, id: string, isPaused: boolean): Promise<void> {
      refuseDeclared(id);
      found(await followed(store.setPaused(id, isPaused, keyIdOf(caller))));
    },

    /** Its mail stays, unless it is erased. Throws `account_changed`, `account_has_sends`. @param version null: any */
    async delete(id: string, version: number | null, options: DeleteAccountOptions): Promise<void> {
      refuseDeclared(id);
      found(await followed(store.delete(id, version, options)));
    },
  };
}
