import Fastify from 'fastify';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { ServiceError } from '../../core/errors.ts';
import type { HttpContext, HttpServer } from '../../platform/http/answers/context.ts';
import type { AnsweredConsent } from './account-consents.ts';
import { registerConsentPage } from './consent-page.ts';

const GIVEN: AnsweredConsent = { outcome: 'given', accountId: 'ada', returnUrl: null };
const UNKNOWN: AnsweredConsent = { outcome: 'unknown', accountId: null, returnUrl: null };

let app: ReturnType<typeof Fastify>;
/** The states that were looked up. */
let asked: (string | null)[];
let isDatabaseAway: boolean;

beforeEach(() => {
  asked = [];
  isDatabaseAway = false;
  app = Fastify();
  const logger = { warn: () => undefined };
  registerConsentPage(app as unknown as HttpServer, { logger } as unknown as HttpContext, {
    async answer(query) {
      if (isDatabaseAway) throw new ServiceError('database_unavailable', { mayHaveHappened: true });
      const state = query.get('state');
      asked.push(state);
      return state === 'good' ? GIVEN : UNKNOWN;
    },
  });
});
afterEach(() => app.close());

const comeBack = (state: string, method: 'GET' | 'HEAD' = 'GET') =>
  app.inject({
    method,
    url: `/oauth2/callback?code=c&state=${state}`,
    headers: { 'accept-language': 'en' },
  });

it('uses no link up for a request that shows nothing', async () => {
  expect((await comeBack('good', 'HEAD')).statusCode).toBe(404);
  expect(asked).toEqual([]);
  expect((await comeBack('good')).statusCode).toBe(200);
});

it('asks the database no more for a client that guesses, and keeps a good link for later', async () => {
  for (let guess = 0; guess < 50; guess += 1) expect((await comeBack(`bad${guess}`)).statusCode).toBe(404);
  for (const state of ['bad', 'good']) {
    const { statusCode, headers } = await comeBack(state);
    expect([statusCode, headers['retry-after']]).toEqual([429, expect.any(String)]);
  }
  expect(asked).toHaveLength(50);
});

it('claims nothing about the account when the database was lost on the way', async () => {
  isDatabaseAway = true;
  const { statusCode, body } = await comeBack('good');
  expect([statusCode, body]).toEqual([503, expect.stringContaining('reload this page')]);
  expect(body).not.toContain('Nothing was changed');
});
