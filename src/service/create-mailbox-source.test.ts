import { expect, it } from 'vitest';
import { NO_TOKENS } from '../../test/helpers/no-tokens.ts';
import { loadConfig } from '../config/config.ts';
import { createMailboxSource } from './create-mailbox-source.ts';

const create = (env: Record<string, string>) => createMailboxSource(loadConfig(env, '/'), NO_TOKENS);

it('reads the mailboxes of the accounts that have some', () => {
  expect(create({}).accountIds).toEqual([]);
  const source = create({ IMAP_URL: 'imaps://u:p@imap.example.com' });
  expect(source.accountIds).toEqual(['default']);
  expect(source.warningOf('default')).toBeNull();
});

it.each(['imaps://imap.example.com', 'imaps://u@imap.example.com', 'imaps://u:p@imap.example.com?x=y'])(
  'names the account whose URL is wrong: %s',
  (url) => {
    expect(() => create({ IMAP_URL: url })).toThrow(/^IMAP_URL of account default: /);
  },
);
