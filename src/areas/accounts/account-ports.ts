/** What managing accounts needs: their rows, and the keys that seal their secrets. */
import type { AccountFields } from './account-fields.ts';
import type { ConsentClient } from './consent-ports.ts';
import type { Address } from '../../core/address/address.ts';
import type { FoundSettings } from '../../core/accounts/found-settings.ts';
import type { OpenSettings } from '../../core/accounts/open-settings.ts';

/** Every process follows a change of an account within this time, in ms. */
export const FOLLOWED_WITHIN_MS = 2_000;

export interface SealedSecrets {
  readonly sealed: Buffer;
  /** Identifies the key without revealing it; 16 bytes. */
  readonly keyId: Buffer;
}

export interface StoredAccount extends SealedSecrets {
  readonly id: string;
  readonly open: OpenSettings;
  /** Counts the changes; 1 at first. */
  readonly version: number;
  /** null: it is not paused. */
  readonly pausedAt: Date | null;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

export type NewAccount = Pick<StoredAccount, 'id' | 'open'> & SealedSecrets;

/** The keys that this process has now, the newest first. */
export type KeyIds = () => Promise<readonly Buffer[]>;

export interface DeleteAccountOptions {
  readonly dryRun: boolean;
  /** The erasure of its mail, which begins with the deletion; null: its mail stays. */
  readonly erasure: { readonly id: string; readonly requestedBy: string } | null;
}

/** All throw `ServiceError('database_unavailable')`; null: the account does not exist. */
export interface AccountStore {
  /** Grows with every change of an account. */
  readVersion(): Promise<number>;
  /** In the order in which they were created. */
  list(): Promise<readonly StoredAccount[]>;
  read(id: string): Promise<StoredAccount | null>;
  /** True: an account is sealed with a key that is none of these. */
  hasOtherKeys(keyIds: readonly Buffer[]): Promise<boolean>;
  /**
   * Throws `account_exists`, `too_many_accounts`, and `secrets_key_missing` when another account is sealed with a key that is none of
   * `keyIds`, as then the processes have no key in common, or when this one is not sealed with the first, as then the key was changed
   * meanwhile. Throws `account_has_mail` while the mail of an earlier account with the id is being erased.
   *
   * @param keyIds asked for when no other change can be under way
   * @param author the key that creates it; null: none does
   */
  create(account: NewAccount, keyIds: KeyIds, author: string | null): Promise<StoredAccount>;
  /**
   * Throws `account_changed` when the version is another one, and `secrets_key_missing` as `create` does.
   *
   * @param mailboxes `again`: other rules say what of them is recorded; `otherBy`: how far they were read means nothing any more, by the key
   *   that names other ones
   */
  change(
    account: NewAccount,
    version: number,
    keyIds: KeyIds,
    mailboxes: 'same' | 'again' | { readonly otherBy: string | null },
  ): Promise<StoredAccount | null>;
  /** Changes nothing when it is paused, or not paused, already. @param author the key that acts, for the event */
  setPaused(id: string, isPaused: boolean, author: string | null): Promise<StoredAccount | null>;
  /**
   * Throws `account_changed` as `change` does, and `account_has_sends` when sends wait; a dry run throws the same, and deletes nothing.
   *
   * @param version null: any
   */
  delete(id: string, version: number | null, options: DeleteAccountOptions): Promise<StoredAccount | null>;
  /** Seals everything again that is sealed with another key; returns how many. Throws `secrets_key_missing` when something can't be opened. */
  sealAgain(keyId: Buffer, again: (account: StoredAccount) => SealedSecrets | null): Promise<number>;
}

/** The keys of this process. */
export interface AccountSealer {
  /** The newest first. */
  keyIds(): readonly Buffer[];
  /** Reads the keys again where another process may have changed them. */
  reread(): Promise<void>;
  /** null: no key of this process opens it. */
  open(accountId: string, sealed: Buffer): string | null;
  /** Makes a key when there is none. */
  seal(accountId: string, text: string): Promise<SealedSecrets>;
}

/** `send`, `read`: its servers. `dns`: the records of its domain, which decide who trusts its mail. `message`: one to itself. */
export const ACCOUNT_STEPS = ['send', 'read', 'dns', 'message'] as const;
export type AccountStep = (typeof ACCOUNT_STEPS)[number];

/** What a finding is about, when it is not as it should be. */
export const FINDING_CODES = [
  'credentials_refused',
  'token_refused',
  'consent_missing',
  'host_unknown',
  'server_unreachable',
  'tls_mismatch',
  'certificate_refused',
  'certificate_expired',
  'no_sent_mailbox',
  'no_smtp',
  'message_not_tried',
  'message_not_sent',
  'message_not_arrived',
  'message_not_read',
  'dns_record',
  'not_signed',
] as const;
export type FindingCode = (typeof FINDING_CODES)[number];

/** A result of trying an account, and the advice about it; English. */
export interface AccountFinding {
  readonly step: AccountStep;
  readonly grade: 'ok' | 'warning' | 'problem';
  /** null: it is as it should be. */
  readonly code: FindingCode | null;
  readonly text: string;
  /** null: nothing needs to be done. */
  readonly advice: string | null;
}

export interface ExaminedAccount {
  readonly findings: readonly AccountFinding[];
  /** Of its mail server, with the use that the server or the name gives them; empty when they could not be listed. */
  readonly folders: readonly { readonly path: string; readonly specialUse: string | null }[];
}

/**
 * Connects to the servers of an account that need not exist, and keeps nothing. Throws `invalid_account`.
 *
 * @param options `sendsMessage`: sends a message to its own address, and waits some seconds for it
 */
export type ExamineAccount = (
  id: string,
  fields: AccountFields,
  options: { readonly sendsMessage: boolean },
  signal: AbortSignal,
) => Promise<ExaminedAccount>;

/** The servers of the mailbox with the address, the likeliest first; empty: none are found. Never throws for what strangers answer. */
export type FindAccountSettings = (
  address: Address,
  signal: AbortSignal,
) => Promise<readonly FoundSettings[]>;

/** What a process knows of an account. */
export interface AccountFacts {
  readonly id: string;
  readonly isDeclared: boolean;
  readonly open: OpenSettings;
  /** 1 for a declared one, which never changes. */
  readonly version: number;
  readonly pausedAt: Date | null;
  /** Why it can't be used here, in English; null: it can. */
  readonly problem: string | null;
  /** Its mailboxes are read by a consent of their owner, who can be asked for another one. */
  readonly readsByConsent: boolean;
  /** The owner of its mailboxes has not consented yet. */
  readonly awaitsConsent: boolean;
  /** Whether its sent mail is put into its Sent mailbox, and why not although it asks for it. */
  readonly sentCopies: { readonly areKept: boolean; readonly note: string | null };
}

/** The accounts that this process knows. */
export interface AccountDirectory {
  /** Declared ones first. */
  readonly known: ReadonlyMap<string, AccountFacts>;
  /** True: of the environment or ACCOUNTS_FILE of this process. */
  isDeclared(id: string): boolean;
  /** Throws `invalid_account`. */
  check(id: string, fields: AccountFields): void;
  /** Who asks for the consent of the mailboxes' owner; null: the account has no OAuth2 with a consent page. Throws `invalid_account`. */
  consentClientOf(id: string, fields: AccountFields): ConsentClient | null;
  /** Follows what was stored meanwhile. */
  refresh(): Promise<void>;
}
