import { expect, it } from 'vitest';
import { ServiceError } from '../../core/errors.ts';
import { createAccountConsents, type AccountConsentsPorts } from './account-consents.ts';
import type { ConsentClient } from './consent-ports.ts';
import type { AskedConsent } from './consent-store.ts';

const CLIENT: ConsentClient = {
  provider: { kind: 'google' },
  clientId: 'c',
  clientSecret: 'the-secret',
  scope: null,
  users: ['ada@example.test'],
  servers: ['imap.example.test'],
};
const STATE = 'a-state';

function consents(connect: AccountConsentsPorts['accounts']['connect'] = async () => true) {
  let kept: AskedConsent | null = null;
  const logged: string[] = [];
  const notes: string[] = [];
  const ports = {
    store: {
      async ask(_state: string, asked: AskedConsent) {
        kept = asked;
        return new Date(0);
      },
      async take() {
        const taken = kept;
        kept = null;
        return taken;
      },
    },
    sealer: {
      reread: async () => undefined,
      open: (_id: string, sealed: Buffer) => sealed.toString(),
      seal: async (_id: string, text: string) => ({ sealed: Buffer.from(text), keyId: Buffer.alloc(16) }),
    },
    accounts: { consentClient: async () => ({ client: CLIENT, reason: '' }), connect },
    port: {
      begin: async () => ({ url: 'https://provider.example.test/', state: STATE, verifier: 'v', nonce: 'n' }),
      finish: async () => ({ refreshToken: 'r', tokenUrl: 'https://provider.example.test/token' }),
    },
    publicUrl: 'https://mail.example.test/mail',
    returnOrigins: ['https://crm.example.test'],
    logger: { warn: () => undefined, error: (_fields: object, text: string) => void logged.push(text) },
    security: { note: (event: string) => void notes.push(event) },
  } as unknown as AccountConsentsPorts;
  const { ask, answer } = createAccountConsents(ports);
  return { ask, logged, notes, come: () => answer(new URLSearchParams({ state: STATE, code: 'c' })) };
}

it.each([
  'blob:https://crm.example.test/id',
  'https://user@crm.example.test/',
  'https://crm.example.test.evil.test/',
  'http://mail.example.test/',
  '//crm.example.test/',
])('leads to no other place: %s', async (returnUrl) => {
  await expect(consents().ask('ada', returnUrl)).rejects.toMatchObject({ code: 'invalid_request' });
});

it('leads to the application that asked', async () => {
  for (const url of ['https://crm.example.test/a?b=c#d', 'https://mail.example.test/']) {
    const { ask, come } = consents();
    await ask('ada', url);
    expect(await come()).toEqual({ outcome: 'given', accountId: 'ada', returnUrl: url });
  }
});

it.each([
  ['account_not_found', 'changed', 0],
  ['account_changed', 'changed', 0],
  ['invalid_account', 'failed', 1],
] as const)('that ends with %s is %s, and the operator reads why', async (code, outcome, lines) => {
  const { ask, come, logged, notes } = consents(async () => Promise.reject(new ServiceError(code)));
  await ask('ada', null);
  expect(await come()).toMatchObject({ outcome });
  expect(logged).toHaveLength(lines);
  expect(notes).toEqual(['account.consent_refused']);
  expect(await come()).toMatchObject({ outcome: 'unknown' });
});
