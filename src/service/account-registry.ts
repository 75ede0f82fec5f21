/**
 * A part of the composition root: the accounts of this process while it runs. Those of its configuration stay as they are; those of the
 * database are read again when their number of changes has grown, and the parts that depend on accounts follow at once.
 */
import { createAccountStore } from '../areas/accounts/account-store.ts';
import { stopRemoval } from '../areas/capture/removal-store.ts';
import { isAccountBeingErased, requestAccountErasure } from '../areas/erase/erasure-store.ts';
import { forgetMailboxes, followRules } from '../areas/mailboxes/mailbox-records.ts';
import {
  joinFields,
  withoutLogin,
  type AccountFields,
  type AccountSecrets,
} from '../areas/accounts/account-fields.ts';
import type { ConsentClient } from '../areas/accounts/consent-ports.ts';
import type { OpenSettings } from '../core/accounts/open-settings.ts';
import type {
  AccountDirectory,
  AccountFacts,
  AccountSealer,
  AccountStore,
  StoredAccount,
} from '../areas/accounts/account-ports.ts';
import type { Account, Logger } from '../platform/base/basics.ts';
import { readAccount, toAccount, type AccountConfig } from '../config/config-accounts.ts';
import { readAddresses } from '../config/config-addresses.ts';
import { ConfigError } from '../config/config-error.ts';
import { readFrom } from '../config/config-values.ts';
import type { Config } from '../config/config.ts';
import type { CaptureRules } from '../core/mailbox/capture.ts';
import type { SenderAddress } from '../core/accounts/sender-addresses.ts';
import { addrSpec, formatAddress, type Address } from '../core/address/address.ts';
import { ServiceError } from '../core/errors.ts';
import { createAccountSealer } from './account-sealer.ts';
import { awaitsConsent } from './create-access-tokens.ts';
import { readImapUrl } from './create-mailbox-source.ts';
import { readSmtpUrl } from './create-transports.ts';

/** An account, and what this process knows about it. */
export interface KnownAccount extends AccountFacts {
  /** null: its secrets can't be opened, or its settings can't be used. */
  readonly config: AccountConfig | null;
}

const NO_COPIES = { areKept: false, note: null };

export class AccountRegistry implements AccountDirectory {
  readonly #config: Config;
  readonly #logger: Logger;
  readonly #known = new Map<string, KnownAccount>();
  readonly #accounts = new Map<string, Account>();
  readonly #followers: (() => void)[] = [];
  #stored: { readonly store: AccountStore; readonly sealer: AccountSealer } | null = null;
  #version = -1;
  /** An account is sealed with a key that this process does not have. */
  #isLocked = false;
  #reading: Promise<void> | null = null;
  /** The opened settings of each stored account, as text: the same settings keep the same `AccountConfig`. */
  #texts = new Map<string, string>();
  #changes = 0;

  constructor(config: Config, logger: Logger) {
    this.#config = config;
    this.#logger = logger;
    this.#replace([]);
  }

  /** All accounts, as use cases see them: the same map for ever, which follows. */
  get accounts(): ReadonlyMap<string, Account> {
    return this.#accounts;
  }

  get known(): ReadonlyMap<string, KnownAccount> {
    return this.#known;
  }

  /** Those whose settings can be used here, also paused ones. */
  get settings(): readonly AccountConfig[] {
    return [...this.#known.values()].flatMap(({ config }) => (config === null ? [] : [config]));
  }

  /** Those that send and are read. */
  get working(): readonly AccountConfig[] {
    return this.settings.filter(({ id }) => this.#known.get(id)?.pausedAt === null);
  }

  /** The ids of those whose sent mail is put into their Sent mailboxes. */
  get keepingCopies(): readonly string[] {
    return this.working.flatMap(({ id, sentCopies }) => (sentCopies.areKept ? [id] : []));
  }

  /** Calls `follow` now, and after each change. */
  follow(follow: () => void): void {
    follow();
    this.#followers.push(follow);
  }

  /** What `make` makes of the accounts, made again after each change. */
  derived<T>(make: () => T): () => T {
    let made: { readonly value: T; readonly changes: number } | null = null;
    return () => {
      if (made?.changes !== this.#changes) made = { value: make(), changes: this.#changes };
      return made.value;
    };
  }

  /** From now on, with the accounts of the database. Throws `database_unavailable`. */
  async openStored(store: AccountStore, sealer: AccountSealer): Promise<void> {
    this.#stored = { store, sealer };
    await this.refresh();
  }

  isDeclared(id: string): boolean {
    return this.#known.get(id)?.isDeclared ?? false;
  }

  check(id: string, fields: AccountFields): void {
    this.parse(id, fields);
  }

  consentClientOf(id: string, fields: AccountFields): ConsentClient | null {
    const account = this.parse(id, fields);
    const { oauth2, smtpUrl, imap } = account;
    if (oauth2 === null || oauth2.consent === null || oauth2.ownGrant !== null) return null;
    const urls = [imap?.url ?? null, smtpUrl].flatMap((url) => (url === null ? [] : [new URL(url)]));
    return {
      provider: oauth2.consent,
      clientId: oauth2.clientId,
      clientSecret: oauth2.clientSecret,
      scope: oauth2.scope,
      // Those without a password are the ones that get the token.
      users: [...new Set(urls.filter(({ password }) => password === '').map(userOf))].filter(Boolean),
      servers: urls.map(({ host }) => host),
    };
  }

  /** Throws `invalid_account`. */
  parse(id: string, fields: AccountFields): AccountConfig {
    try {
      return this.#read(id, fields);
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      throw new ServiceError('invalid_account', {
        values: { field: error.place },
        details: error.reason,
      });
    }
  }

  /** Throws Error when an account can't be used here. */
  requireUsable(): void {
    // An account that waits for its owner keeps no other one from working.
    const unusable = [...this.#known.values()].filter(
      ({ problem, awaitsConsent }) => problem !== null && !awaitsConsent,
    );
    const [first] = unusable;
    if (first === undefined) return;
    const others = unusable.length === 1 ? '' : `, and ${unusable.length - 1} more`;
    throw new Error(`the account ${first.id}${others} can't be used here: ${first.problem}`);
  }

  /** One read at a time; a caller that comes while one is under way gets the next one. */
  async refresh(): Promise<void> {
    while (this.#reading !== null) await this.#reading.catch(() => undefined);
    this.#reading = this.#readStored();
    try {
      await this.#reading;
    } finally {
      this.#reading = null;
    }
  }

  async #readStored(): Promise<void> {
    if (this.#stored === null) return;
    const { store, sealer } = this.#stored;
    // Before the rows: a change in between is found the next time.
    const version = await store.readVersion();
    if (version === this.#version && !(await this.#hasNewKeys(sealer))) return;
    const rows = await store.list();
    this.#isLocked = isLocked(rows, sealer);
    if (this.#isLocked) {
      await sealer.reread();
      this.#isLocked = isLocked(rows, sealer);
    }
    this.#replace(rows.map((row) => this.#toKnown(row, sealer)));
    this.#version = version;
  }

  /** A key file that was lost, or not there yet, may have come (back). */
  async #hasNewKeys(sealer: AccountSealer): Promise<boolean> {
    if (!this.#isLocked) return false;
    const before = namesOf(sealer);
    await sealer.reread();
    return namesOf(sealer) !== before;
  }

  #replace(stored: readonly KnownAccount[]): void {
    const declared = this.#config.accounts.map(
      (config): KnownAccount =>
        this.#known.get(config.id) ?? {
          id: config.id,
          isDeclared: true,
          open: toOpen(config),
          version: 1,
          pausedAt: null,
          config,
          problem: null,
          readsByConsent: false,
          awaitsConsent: false,
          sentCopies: config.sentCopies,
        },
    );
    const isDeclared = new Set(declared.map(({ id }) => id));
    const hidden = stored.filter(({ id }) => isDeclared.has(id)).map(({ id }) => id);
    if (hidden.length > 0)
      this.#logger.warn(
        { accountIds: hidden },
        'stored accounts are not used: the configuration has the same ids',
      );
    const all = [...declared, ...stored.filter(({ id }) => !isDeclared.has(id))];
    for (const { id, problem } of all) {
      if (problem !== null && this.#known.get(id)?.problem !== problem)
        this.#logger.error({ accountId: id, problem }, 'an account can not be used');
    }
    // Before anything is replaced: a failure must not leave a part of the accounts.
    const accounts = all.map((account) => [account, this.#toAccount(account)] as const);
    this.#known.clear();
    this.#accounts.clear();
    for (const [known, account] of accounts) {
      this.#known.set(known.id, known);
      if (account !== null) this.#accounts.set(known.id, account);
    }
    this.#texts = new Map([...this.#texts].filter(([id]) => this.#known.has(id)));
    this.#changes += 1;
    for (const follow of this.#followers) follow();
  }

  #toKnown({ id, open, sealed, version, pausedAt }: StoredAccount, sealer: AccountSealer): KnownAccount {
    const none = { readsByConsent: false, awaitsConsent: false };
    const known = { id, isDeclared: false, open, version, pausedAt, ...none };
    const text = sealer.open(id, sealed);
    if (text === null) {
      this.#texts.delete(id);
      return {
        ...known,
        config: null,
        sentCopies: NO_COPIES,
        problem: 'its secrets are sealed with a key that this process does not have: see SECRETS_KEY',
      };
    }
    const opened = JSON.stringify(open) + text;
    const before = this.#known.get(id)?.config ?? null;
    if (before !== null && this.#texts.get(id) === opened) return { ...known, ...usable(before) };
    this.#texts.set(id, opened);
    try {
      // The text was authenticated, so this program wrote it.
      const config = this.#read(id, joinFields(open, JSON.parse(text) as AccountSecrets));
      if (config.oauth2 !== null && awaitsConsent(config.oauth2)) {
        // No token, no mail: what is sent waits until there is one.
        const problem = 'the owner of its mailboxes has not consented yet: POST /api/accounts/{id}/consent';
        return { ...known, config: null, problem, awaitsConsent: true, sentCopies: NO_COPIES };
      }
      return { ...known, ...usable(config) };
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      return { ...known, config: null, problem: error.message, sentCopies: NO_COPIES };
    }
  }

  /** Throws ConfigError. */
  #read(id: string, fields: AccountFields): AccountConfig {
    const account = readAccount(id, fields, {
      nameOf: (field) => field ?? 'account',
      expand: (text) => text,
      cwd: null,
      clients: this.#config.oauth2Clients,
    });
    const { smtpUrl, imap } = account;
    // A file of this machine is chosen by who configures it, and by no caller of the API.
    if (smtpUrl !== null) refuseFile('smtp_url', () => readSmtpUrl(account, smtpUrl, this.#config));
    if (imap !== null) refuseFile('imap_url', () => readImapUrl(account, imap.url));
    return account;
  }

  /** null: not even its address can be read. */
  #toAccount({ id, config, open, pausedAt, problem }: KnownAccount): Account | null {
    const hasListener = this.#config.lmtpListen !== null || this.#config.smtpListen !== null;
    const halt = problem !== null ? 'unavailable' : pausedAt !== null ? 'paused' : null;
    if (config !== null) return { ...toAccount(config, hasListener), ...(halt === null ? {} : { halt }) };
    const from = readAddress(open.from);
    if (from === null) return null;
    return {
      id,
      from,
      addresses: readOwn(open, from),
      receives: hasListener || open.imap_server !== null,
      halt: 'unavailable',
    };
  }
}

const usable = (config: AccountConfig) => ({
  config,
  problem: null,
  sentCopies: config.sentCopies,
  readsByConsent: readsByConsent(config),
});

const readsByConsent = ({ oauth2, imap }: AccountConfig): boolean =>
  oauth2 !== null &&
  oauth2.consent !== null &&
  oauth2.ownGrant === null &&
  imap !== null &&
  new URL(imap.url).password === '';

/** The URL was checked, so it can be decoded. */
const userOf = ({ username }: URL): string => decodeURIComponent(username).toLowerCase();

function readAddress(from: string): Address | null {
  try {
    return readFrom('from', from);
  } catch (error) {
    if (error instanceof ConfigError) return null;
    throw error;
  }
}

/** Also of an account that can't be used: they are ours all the same. */
function readOwn({ addresses }: OpenSettings, from: Address): readonly SenderAddress[] {
  try {
    return readAddresses('addresses', addresses, from);
  } catch (error) {
    if (error instanceof ConfigError) return [];
    throw error;
  }
}

const namesOf = (sealer: AccountSealer): string =>
  sealer
    .keyIds()
    .map((id) => id.toString('hex'))
    .join();

function isLocked(rows: readonly StoredAccount[], sealer: AccountSealer): boolean {
  const ids = sealer.keyIds();
  return rows.some(({ keyId }) => !ids.some((id) => id.equals(keyId)));
}

function refuseFile(place: string, read: () => { readonly tlsCaFile: string | null }): void {
  let file: string | null;
  try {
    ({ tlsCaFile: file } = read());
  } catch (error) {
    throw error instanceof ConfigError ? new ConfigError(place, error.reason) : error;
  }
  if (file !== null) throw new ConfigError(place, 'tls_ca names a file, which only the configuration may');
}

function toOpenCapture(rules: CaptureRules | null): OpenSettings['capture'] {
  if (rules === null) return null;
  const listed = (texts: readonly string[]) => (texts.length === 0 ? null : texts);
  return {
    folders: listed(rules.folders),
    never_addresses: listed(rules.neverAddresses),
    never_subjects: listed(rules.neverSubjects),
    internal_domains: listed(rules.internalDomains),
    leave_out_private: rules.leaveOutPrivate,
    only_customers: rules.onlyCustomers,
  };
}

/** What may be shown of a declared account. */
function toOpen({
  from,
  addresses,
  signature,
  footer,
  outOfOffice,
  smtpUrl,
  imap,
  rate,
  oauth2,
  dkim,
  ...config
}: AccountConfig): OpenSettings {
  const { joinBySubjectDays, sentCopies, trustedAuthservIds } = config;
  return {
    from: formatAddress(from),
    addresses:
      addresses.length === 0
        ? null
        : addresses.map(({ address, replyTo, signature: own = null }) => ({
            address: addrSpec(address),
            name: address.name === '' ? null : address.name,
            reply_to: replyTo === null ? null : formatAddress(replyTo),
            signature_text: own?.text ?? null,
            signature_html: own?.html ?? null,
          })),
    signature_text: signature?.text ?? null,
    signature_html: signature?.html ?? null,
    footer_text: footer?.text ?? null,
    footer_html: footer?.html ?? null,
    footer_once_per_thread: footer?.oncePerThread === true ? true : null,
    out_of_office:
      outOfOffice === null
        ? null
        : {
            ...outOfOffice,
            from: outOfOffice.from?.toISOString() ?? null,
            until: outOfOffice.until?.toISOString() ?? null,
          },
    smtp_server: withoutLogin(smtpUrl),
    imap_server: withoutLogin(imap?.url ?? null),
    imap_since: imap?.since?.toISOString().slice(0, 10) ?? null,
    imap_sent: imap?.sentPath ?? null,
    imap_sent_copies: sentCopies.areKept ? 'on' : sentCopies.note === null ? 'off' : 'auto',
    capture: toOpenCapture(config.capture),
    rate_per_minute: rate.perMinute,
    rate_per_day: rate.perDay,
    join_by_subject: joinBySubjectDays === null ? null : { window_days: joinBySubjectDays },
    retention_days: config.retentionDays,
    trusted_authserv_ids: trustedAuthservIds.length === 0 ? null : trustedAuthservIds,
    oauth2:
      oauth2 === null
        ? null
        : {
            provider: null,
            tenant: null,
            grant: oauth2.ownGrant?.kind ?? null,
            issuer: null,
            token_url: oauth2.tokenUrl,
            client_id: oauth2.clientId,
            scope: oauth2.scope,
          },
    dkim:
      dkim === null ? null : { domain: dkim.domain, selectors: dkim.keys.map(({ selector }) => selector) },
  };
}

/** Reads the accounts of the database too. Throws `database_unavailable`. */
export async function openStoredAccounts(
  registry: AccountRegistry,
  config: Config,
  pool: Parameters<typeof createAccountStore>[0],
): Promise<{ readonly store: AccountStore; readonly sealer: AccountSealer }> {
  const store = createAccountStore(pool, {
    forgetMailboxes,
    followRules,
    stopRemoval,
    isBeingErased: isAccountBeingErased,
    requestErasure: requestAccountErasure,
  });
  const sealer = await createAccountSealer(config);
  await registry.openStored(store, sealer);
  return { store, sealer };
}
