import { expect, it } from 'vitest';
import { loadConfig } from '../config/config.ts';
import { imapAccounts } from './create-mailbox-source.ts';

const create = (env: Record<string, string>) => imapAccounts(loadConfig(env, '/').accounts);

it('reads the mailboxes of the accounts that have some', () => {
  expect(create({})).toEqual([]);
  expect(create({ IMAP_URL: 'imaps://u:p@imap.example.com' }).map(({ id }) => id)).toEqual(['default']);
});

it.each(['imaps://imap.example.com', 'imaps://u@imap.example.com', 'imaps://u:p@imap.example.com?x=y'])(
  'names the account whose URL is wrong: %s',
  (url) => {
    expect(() => create({ IMAP_URL: url })).toThrow(/^IMAP_URL of account default: /);
  },
);
