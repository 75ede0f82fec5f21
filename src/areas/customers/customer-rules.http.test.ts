import { afterEach, describe, expect, it } from 'vitest';
import { AUTHORIZED, createTestHttpApp, type TestHttpApp } from '../../../test/helpers/http-app.ts';
import { runOn } from '../../../test/helpers/example-operations.ts';
import { createRecordingApplication } from '../../../test/helpers/recording-application.ts';
import { IDS } from '../../../test/helpers/sample-emails.ts';
import { createCustomers, type Customers } from './customers.ts';
import type { CustomerRegistration, CustomerStore, RegistrationRequest } from './customer-ports.ts';

let app: TestHttpApp;
afterEach(() => app.close());

const URL = `/api/customer/${IDS.customer}/addresses`;

const REGISTRATION: CustomerRegistration = {
  name: null,
  companyId: null,
  addresses: [],
  domains: [],
  isComplete: true,
};
const RELINKED = { linked: 3, moved: 2, unlinked: 1 };

/** The requests that come to the rules; by default they are answered with samples. */
async function start(store: Partial<CustomerStore> | null = null) {
  const requests: RegistrationRequest[] = [];
  const samples: Partial<Customers> = {
    registration: async () => REGISTRATION,
    register: async (_caller, request) => {
      requests.push(request);
      return { registration: REGISTRATION, relinked: RELINKED };
    },
  };
  const customers = store === null ? (samples as Customers) : createCustomers(store as CustomerStore);
  app = await createTestHttpApp({
    application: createRecordingApplication(
      store === null ? {} : { listAmbiguousEmails: customers.listAmbiguousEmails },
    ),
    runOperation: runOn({ customers }),
  });
  return requests;
}

const put = (body: unknown, url = URL) =>
  app.fastify.inject({
    method: 'PUT',
    url,
    headers: { ...AUTHORIZED, 'content-type': 'application/json' },
    payload: typeof body === 'string' ? body : JSON.stringify(body),
  });
const get = (url: string) => app.fastify.inject({ url, headers: AUTHORIZED });

describe('PUT /api/customer/{customerId}/addresses', () => {
  it('hands on what was given and answers with what is registered', async () => {
    const requests = await start();
    const response = await put(
      { addresses: ['ann@example.org'], domains: ['*.example.org'], company_id: IDS.thread.toUpperCase() },
      URL.toUpperCase().replace('/API/CUSTOMER', '/api/customer').replace('ADDRESSES', 'addresses'),
    );
    expect(response.statusCode).toBe(200);
    expect(requests).toEqual([
      {
        customerId: IDS.customer,
        name: undefined,
        companyId: IDS.thread,
        addresses: ['ann@example.org'],
        domains: ['*.example.org'],
        isComplete: null,
        versions: [null, null],
      },
    ]);
    expect(response.json()).toEqual({
      ...(await get(URL)).json<object>(),
      relinked: RELINKED,
    });
  });

  it('leaves the company when none is given, and removes it by null', async () => {
    const requests = await start();
    await put({ addresses: [], domains: [] });
    await put({ addresses: [], domains: [], company_id: null });
    expect(requests.map(({ companyId }) => companyId)).toEqual([undefined, null]);
  });

  it.each([
    ['no body', '', 'invalid_json'],
    ['other than an object', '[]', 'invalid_request'],
    ['no domains', { addresses: [] }, 'invalid_request'],
    ['an unknown field', { addresses: [], domains: [], domain: 'x' }, 'unknown_field'],
    ['an address that is none', { addresses: [{}], domains: [] }, 'invalid_request'],
    ['a bad company', { addresses: [], domains: [], company_id: 'x' }, 'invalid_uuid'],
    ['too much', `{"addresses":["${'x'.repeat(600_000)}"],"domains":[]}`, 'payload_too_large'],
  ])('refuses %s', async (_, body, code) => {
    const requests = await start();
    expect((await put(body)).json()).toMatchObject({ code });
    expect(requests).toEqual([]);
  });

  it('refuses bad rules with a text that names them, and changes nothing', async () => {
    await start({
      readRegistration: async () => REGISTRATION,
      replaceRegistration: () => Promise.reject(new Error('must not be called')),
    });
    const response = await put({ addresses: [], domains: ['acme.test', 'gmail.com', 'co.uk'] });
    expect(response.statusCode).toBe(400);
    expect(response.json()).toMatchObject({
      error:
        'Öffentliche Domains gehören keinem Kunden und können nicht eingetragen werden: gmail.com, co.uk',
      code: 'public_domain',
    });
  });
});

describe('the lists of addresses and emails that several customers claim', () => {
  it('answer with their pages', async () => {
    await start();
    const emails = await get('/api/customers/ambiguous/emails?address=bob@example.org');
    expect(emails.json()).toMatchObject({ emails: [{ id: IDS.email }], next_cursor: null });
  });

  it('page through the claims by their cursor', async () => {
    const values = ['a@x.test', 'b@x.test', 'c@x.test'];
    await start({
      listAmbiguous: async (after: { value: string } | null, limit: number) =>
        values
          .filter((value) => value > (after?.value ?? ''))
          .slice(0, limit)
          .map((value) => ({ kind: 'address', value, customerIds: [], customerCount: 2, emailCount: 0 })),
    });
    const first = (await get('/api/customers/ambiguous?limit=2')).json<{
      next_cursor: string;
      claims: object[];
    }>();
    expect(first.claims).toHaveLength(2);
    const rest = await get(`/api/customers/ambiguous?limit=2&cursor=${first.next_cursor}`);
    expect(rest.json()).toMatchObject({ claims: [{ value: 'c@x.test' }], next_cursor: null });
  });

  it.each([
    ['/api/customers/ambiguous?cursor=xyz', 'invalid_cursor'],
    ['/api/customers/ambiguous?limit=0', 'invalid_request'],
    ['/api/customers/ambiguous?adress=a', 'unknown_parameter'],
    ['/api/customers/ambiguous/emails?cursor=xyz', 'invalid_cursor'],
    ['/api/customers/ambiguous/emails?address=a@x.test&domain=x.test', 'invalid_request'],
    ['/api/customers/ambiguous/emails?address=a', 'invalid_address'],
    ['/api/customers/ambiguous/emails?domain=a..b', 'invalid_domain'],
  ])('refuse %s', async (url, code) => {
    await start({});
    const response = await get(url);
    expect(response.statusCode).toBe(400);
    expect(response.json()).toMatchObject({ code });
  });
});
