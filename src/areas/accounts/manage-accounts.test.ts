import { expect, it } from 'vitest';
import { createManagedAccounts, type ManageAccountsPorts } from './manage-accounts.ts';
import type { NewAccount, StoredAccount } from './account-ports.ts';
import { ServiceError } from '../../core/errors.ts';
import { withEverything } from '../../core/keys/caller.ts';
import { splitFields } from './account-fields.ts';

const CALLER = withEverything({ kind: 'secret', number: 1 });

const KEY_ID = Buffer.alloc(16, 1);
const OAUTH2 = { provider: 'google', client_id: 'crm', refresh_token: 'secret' };
const { open, secrets } = splitFields({
  from: 'sales@example.com',
  rate_per_day: 5,
  smtp_url: 'smtps://sales@smtp.example.com',
  oauth2: OAUTH2,
});
const STORED: StoredAccount = {
  id: 'sales',
  open,
  sealed: Buffer.from(JSON.stringify(secrets)),
  keyId: KEY_ID,
  version: 1,
  pausedAt: null,
  createdAt: new Date(0),
  updatedAt: new Date(0),
};

/** @param onRead a change by another caller right after this one has read the account */
function managed(
  onRead: () => Partial<StoredAccount> = () => ({}),
  stored = STORED,
  consentClientOf: () => null = () => null,
) {
  const changes: NewAccount[] = [];
  let row = stored;
  const ports = {
    store: {
      read: async () => {
        const read = row;
        row = { ...row, ...onRead() };
        return read;
      },
      hasOtherKeys: async () => false,
      change: async (account: NewAccount, version: number) => {
        if (row.version === version) changes.push(account);
        return row;
      },
    },
    sealer: {
      keyIds: () => [KEY_ID],
      reread: async () => undefined,
      open: (_id: string, sealed: Buffer) => sealed.toString(),
      seal: async (_id: string, text: string) => ({ sealed: Buffer.from(text), keyId: KEY_ID }),
    },
    checkSignatures: async () => undefined,
    directory: {
      consentClientOf,
      isDeclared: () => false,
      check: () => undefined,
      refresh: async () => undefined,
    },
  } as unknown as ManageAccountsPorts;
  return { accounts: createManagedAccounts(ports), changes };
}

it('keeps what a change leaves out', async () => {
  const { accounts, changes } = managed();
  await accounts.change(CALLER, 'sales', 1, { rate_per_minute: 3 });
  expect(changes.map((account) => account.open)).toEqual([{ ...open, rate_per_minute: 3 }]);
});

it('does not undo the change that leads to the version of a request', async () => {
  const { accounts, changes } = managed(() => ({ version: 2, open: { ...open, rate_per_day: 7 } }));
  await expect(accounts.change(CALLER, 'sales', 2, { rate_per_minute: 3 })).rejects.toMatchObject({
    code: 'account_changed',
  });
  expect(changes).toEqual([]);
});

it('gives the tokens of OAuth2 to no other server than the one that they were given for', async () => {
  const { accounts, changes } = managed();
  const elsewhere = { smtp_url: 'smtps://sales@smtp.elsewhere.test' };
  await expect(accounts.change(CALLER, 'sales', 1, elsewhere)).rejects.toMatchObject({
    code: 'invalid_account',
  });
  await expect(
    accounts.change(CALLER, 'sales', 1, { imap_url: 'imaps://sales@imap.elsewhere.test' }),
  ).rejects.toMatchObject({ code: 'invalid_account' });
  expect(changes).toEqual([]);
  await accounts.change(CALLER, 'sales', 1, { smtp_url: 'smtp://sales@smtp.example.com:587' });
  await accounts.change(CALLER, 'sales', 1, { ...elsewhere, oauth2: OAUTH2 });
  expect(changes).toHaveLength(2);
});

it('lets servers be corrected while the owner has not consented yet, but not those of a grant', async () => {
  const withOAuth2 = (oauth2: object): StoredAccount => {
    const split = splitFields({ from: open.from, smtp_url: 'smtps://sales@smtp.example.com', oauth2 });
    return { ...STORED, open: split.open, sealed: Buffer.from(JSON.stringify(split.secrets)) };
  };
  const elsewhere = { smtp_url: 'smtps://sales@smtp.elsewhere.test' };
  const waiting = managed(undefined, withOAuth2({ provider: 'google', client_id: 'crm' }));
  await waiting.accounts.change(CALLER, 'sales', 1, elsewhere);
  expect(waiting.changes).toHaveLength(1);
  const grant = { grant: 'client_credentials', client_secret: 's' };
  const granted = managed(undefined, withOAuth2({ ...OAUTH2, ...grant, refresh_token: null }));
  await expect(granted.accounts.change(CALLER, 'sales', 1, elsewhere)).rejects.toMatchObject({
    code: 'invalid_account',
  });
});

it('says why nobody can be asked for a consent when the account can not be read', async () => {
  const { accounts } = managed(undefined, STORED, () => {
    throw new ServiceError('invalid_account', {
      values: { field: 'oauth2' },
      details: 'client_id is missing',
    });
  });
  expect(await accounts.consentClient('sales')).toEqual({
    client: null,
    reason: 'oauth2 of the account: client_id is missing',
  });
});
