import { describe, expect, it } from 'vitest';
import { VARIABLES } from '../../config/config.ts';
import { findMisspelt } from './misspelt.ts';

const KNOWN = VARIABLES.map(({ name }) => name);
const find = (...set: readonly string[]) => findMisspelt(set, KNOWN, new Set(['SMTP_URL2']));

describe('findMisspelt', () => {
  it.each([
    ['DATABSE_URL', 'DATABASE_URL'],
    ['DATABASE_URI', 'DATABASE_URL'],
    ['PAI_SECRET', 'API_SECRET'],
    ['SMTP_ULR', 'SMTP_URL'],
    ['smtp_url', 'SMTP_URL'],
    ['MAILFROM', 'MAIL_FROM'],
    ['ACCOUNT_FILE', 'ACCOUNTS_FILE'],
  ])('takes %s for %s', (name, meant) => {
    expect(find(name)).toEqual([{ name, meant }]);
  });

  it('leaves alone what is known, what the accounts file names, and what belongs to others', () => {
    expect(
      find(
        'SMTP_URL',
        'SMTP_URL2',
        'SALES_SMTP_URL',
        'PATH',
        'HOME',
        'SHELL',
        'HOSTNAME',
        'LANG',
        'SSL_CERT_FILE',
      ),
    ).toEqual([]);
    expect(find('X'.repeat(100_000), '')).toEqual([]);
  });
});
