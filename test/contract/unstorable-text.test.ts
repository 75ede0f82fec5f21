/** Text that no database can store, NUL and half of a surrogate pair, in every field of every operation, and anywhere in received mail. */
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import * as fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { arbitraryOf } from '../helpers/arbitrary/json-schema.ts';
import { readOperations } from '../helpers/http-fuzz.ts';
import { mail } from '../helpers/inbound-mail.ts';
import { createTestDatabase, type TestDatabase } from '../helpers/postgres.ts';
import { runs } from '../helpers/runs.ts';
import { disposeService, startServiceProcess, type ServiceProcess } from '../helpers/service-process.ts';

const file = new URL('../../docs/openapi.json', import.meta.url);
const operations = readOperations(JSON.parse(readFileSync(file, 'utf8')) as Record<string, unknown>);
/** Each with its bytes in a URL: those of half a surrogate pair are no UTF-8. */
const BAD = [
  ['x\0y', 'x%00y'],
  ['x\udfffy', 'x%ED%BF%BFy'],
] as const;

let database: TestDatabase;
let service: ServiceProcess;

beforeAll(async () => {
  database = await createTestDatabase();
  service = await startServiceProcess({ env: { DATABASE_URL: database.connectionString } });
});
afterAll(async () => {
  await disposeService(service);
  await database.drop();
});

/** Copies of a JSON value, each with one of its texts, or one of its names, replaced. */
function* spoilt(value: unknown, bad: string): Generator<unknown> {
  if (typeof value === 'string') yield bad;
  if (typeof value !== 'object' || value === null) return;
  for (const [key, inner] of Object.entries(value)) {
    for (const other of spoilt(inner, bad)) {
      yield Array.isArray(value) ? value.with(Number(key), other) : { ...value, [key]: other };
    }
  }
  if (!Array.isArray(value)) yield { ...value, [bad]: 'x' };
}

describe('any operation', () => {
  it.each(operations)(
    'refuses such text, takes none of it, and does not fail by it: $method $path',
    async (operation) => {
      const { method, path, parameters, body, rawType } = operation;
      const valueOf = (name: string) =>
        /id$/i.test(name) ? randomUUID() : name === 'address' ? 'ada@customer.test' : 'x';
      const urlOf = (spoiltName: string | null, bad: string) =>
        path.replace(/\{(\w+)\}/g, (_, name: string) =>
          name === spoiltName ? bad : encodeURIComponent(valueOf(name)),
        );
      const requests: { url: string; json?: unknown }[] = [];
      const samples = body === null ? [] : fc.sample(arbitraryOf(body, {}), { numRuns: runs(20) });
      for (const [bad, sent] of BAD) {
        for (const { in: place, name } of parameters) {
          if (place === 'path')
            requests.push({ url: urlOf(name, sent), ...(body === null ? {} : { json: samples[0] }) });
          if (place === 'query') requests.push({ url: `${urlOf(null, '')}?${name}=${sent}` });
        }
        for (const sample of samples)
          for (const json of spoilt(sample, bad)) requests.push({ url: urlOf(null, ''), json });
      }
      const failures: unknown[] = [];
      for (const { url, json } of requests) {
        const hasBody = json !== undefined && method !== 'GET';
        const answer = await service.request(url, {
          method,
          ...(hasBody ? { headers: { 'content-type': 'application/json' }, body: JSON.stringify(json) } : {}),
          ...(rawType === null || hasBody ? {} : { headers: { 'content-type': rawType }, body: mail() }),
        });
        const text = await answer.text();
        // What a mail server says, or a storage that is not there, is no failure of the service.
        const results = /"results":/.test(text)
          ? (JSON.parse(text) as { results: { code?: string }[] }).results
          : null;
        const isRefused = results?.some(({ code }) => code !== undefined) ?? answer.status >= 400;
        if ((answer.status >= 500 || !isRefused) && !/"code":"(?:send_failed|send_deferred)"/.test(text)) {
          failures.push({ url, json: JSON.stringify(json), status: answer.status, text });
        }
      }
      expect(failures).toEqual([]);
    },
  );

  it('names the field', async () => {
    const codes = [];
    for (const url of [
      '/api/emails?tag=%00',
      '/api/threads?subject=a%00b',
      '/api/suppressions/a%00@b.test',
    ]) {
      const answer = await service.request(url, {});
      codes.push([answer.status, ((await answer.json()) as { error: string }).error.split(' ')[0]]);
    }
    const webhook = { url: 'https://example.test/', headers: { 'X-A': 'a\0b' } };
    const answer = await service.request('/api/webhooks', { json: webhook });
    codes.push([answer.status, ((await answer.json()) as { error: string }).error.split(' ')[0]]);
    for (const name of ['content_type', 'content_id']) {
      const file = { filename: 'a.txt', content: 'YQ==', [name]: 'a\0b' };
      const draft = await service.request('/api/drafts', { json: { attachments: [file] } });
      codes.push([draft.status, ((await draft.json()) as { error: string }).error.split(' ')[0]]);
    }
    expect(codes).toEqual([
      [400, 'tag'],
      [400, 'subject'],
      [400, 'address'],
      [400, 'headers.X-A'],
      [400, 'attachments[0].content_type'],
      [400, 'attachments[0].content_id'],
    ]);
  });
});

describe('received mail', () => {
  it('is recorded whatever bytes are anywhere in it', async () => {
    const bad = fc.constantFrom(
      '\0',
      '\u00ed\u00a0\u0080',
      '\u00ff\u00fe',
      '\ud800',
      '=?utf-16be?B?2AA=?=',
      '=?utf-8?Q?=00?=',
      '=00',
      '\\0',
      '\\u0000',
      '\u0001',
    );
    const whole = [
      'From: "Ada X" <ada@customer.test>',
      'To: sales@example.com, "B" <b@x.test>',
      'Subject: Guten Tag',
      'Date: Sun, 01 Mar 2026 12:00:00 +0100',
      'Message-ID: <MESSAGE@customer.test>',
      'In-Reply-To: <other@customer.test>',
      'References: <first@customer.test> <other@customer.test>',
      'DKIM-Signature: v=1; a=rsa-sha256; d=customer.test; s=s1; h=from; bh=x; b=y',
      'Authentication-Results: mx.example.com; dkim=pass header.d=customer.test header.s=s1',
      'List-Id: <list.customer.test>',
      'Auto-Submitted: auto-replied',
      'X-Failed-Recipients: c@x.test',
      'Content-Type: multipart/mixed; boundary="b"',
      '',
      '--b',
      'Content-Type: text/html; charset=utf-8',
      '',
      '<p>Hallo</p>',
      '--b',
      'Content-Type: application/pdf; name="a.pdf"',
      'Content-Disposition: attachment; filename="a.pdf"',
      'Content-ID: <c@customer.test>',
      'Content-Transfer-Encoding: base64',
      '',
      'AAAA',
      '--b--',
      '',
    ].join('\r\n');
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(fc.nat(whole.length), bad), { minLength: 1, maxLength: 6 }),
        async (places) => {
          let raw = whole.replace('MESSAGE', randomUUID());
          for (const [at, text] of places) raw = raw.slice(0, at) + text + raw.slice(at);
          const answer = await service.request('/api/inbound', {
            method: 'POST',
            headers: { 'content-type': 'message/rfc822' },
            body: Buffer.from(raw, 'latin1'),
          });
          expect({ status: answer.status, text: await answer.text() }).toMatchObject({ status: 200 });
        },
      ),
      { numRuns: runs(1000) },
    );
  });
});
