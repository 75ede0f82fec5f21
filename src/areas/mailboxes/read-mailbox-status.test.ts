import { expect, it } from 'vitest';
import type { AccountFacts } from '../accounts/account-ports.ts';
import type { ReadingStatus } from './mailbox-status-ports.ts';
import { createMailboxStatus } from './read-mailbox-status.ts';

const REFUSED = {
  accountId: 'ada',
  owner: 'here',
  lastAttemptAt: new Date(0),
  nextAttemptAt: new Date(1),
  lastError: { kind: 'credentials', reason: 'refused', at: new Date(0) },
  mailboxes: [],
} satisfies ReadingStatus;

it('is connected again by its owner only where the owner gave a consent', async () => {
  const reconnect = async (facts: Partial<AccountFacts>) => {
    const shown = { sentCopies: { areKept: false, note: null }, open: { imap_server: 'imaps://h/' } };
    const known = new Map([['ada', { ...shown, problem: null, ...facts }]]);
    const mailboxes = createMailboxStatus({
      status: { readStatus: async () => [REFUSED], countSentCopies: async () => [] },
      source: { warningOf: () => null },
      known,
      accounts: new Map(),
      instanceId: 'here',
      wake: () => undefined,
    } as unknown as Parameters<typeof createMailboxStatus>[0]);
    return (await mailboxes.account('ada')).reconnect;
  };
  const oauth2 = {
    provider: null,
    token_url: 'https://login.example.com/token',
    grant: 'client_credentials',
  };
  const byProgram = { open: { imap_server: 'imaps://h/', oauth2 } } as unknown as Partial<AccountFacts>;
  expect(await reconnect({ ...byProgram, readsByConsent: false, awaitsConsent: false })).toBe(false);
  expect(await reconnect({ readsByConsent: true, awaitsConsent: false })).toBe(true);
  expect(await reconnect({ readsByConsent: false, awaitsConsent: true })).toBe(true);
});
