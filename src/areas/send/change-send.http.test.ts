import { afterEach, describe, expect, it } from 'vitest';
import { AUTHORIZED, createTestHttpApp, type TestHttpApp } from '../../../test/helpers/http-app.ts';
import { createRecordingApplication } from '../../../test/helpers/recording-application.ts';
import { IDS, sampleDetail } from '../../../test/helpers/sample-emails.ts';
import type { Application } from '../../api/application.ts';
import type { SendChange } from './use-cases.ts';
import { ServiceError } from '../../core/errors.ts';

const apps: TestHttpApp[] = [];

afterEach(async () => {
  for (const app of apps.splice(0)) await app.close();
});

interface Asked {
  readonly id: string;
  readonly version: number;
  readonly change: SendChange;
}

async function patch(
  payload: unknown,
  headers: Record<string, string> = { 'if-match': '"3"' },
  error?: ServiceError,
) {
  const asked: Asked[] = [];
  const changeSend: Application['changeSend'] = async (id, version, change, folder) => {
    asked.push({ id, version, change });
    await folder.remove();
    if (error !== undefined) throw error;
    return { ...sampleDetail, sendVersion: 4 };
  };
  const app = await createTestHttpApp({ application: createRecordingApplication({ changeSend }) });
  apps.push(app);
  const response = await app.fastify.inject({
    method: 'PATCH',
    url: `/api/emails/${IDS.email.toUpperCase()}`,
    headers: { ...AUTHORIZED, 'content-type': 'application/json', ...headers },
    payload: typeof payload === 'string' ? payload : JSON.stringify(payload),
  });
  return { response, json: response.json<Record<string, unknown>>(), asked };
}

describe('a change of a send', () => {
  it('names only what is changed, and gets the email with its new version', async () => {
    const { response, json, asked } = await patch({ send_at: '2026-12-01T08:00:00+01:00', cc: null });
    expect([response.statusCode, response.headers['etag'], json['send_version']]).toEqual([200, '"4"', 4]);
    expect(asked).toEqual([
      { id: IDS.email, version: 3, change: { sendAt: new Date('2026-12-01T07:00:00Z'), cc: [] } },
    ]);
  });

  it.each<[object, SendChange]>([
    [{}, {}],
    [{ send_at: 'now' }, { sendAt: null }],
    [{ html_body: '<p>x</p>' }, { body: { htmlBody: '<p>x</p>' } }],
    [{ text_body: 'x', html_body: null }, { body: { textBody: 'x', htmlBody: null } }],
    [{ attachments: null }, { attachments: [] }],
    [
      { attachments: [{ attachment_id: IDS.attachment }] },
      {
        attachments: [
          { filename: null, contentType: null, content: { kind: 'attachment', id: IDS.attachment } },
        ],
      },
    ],
  ])('%j', async (body, change) => {
    expect((await patch(body)).asked.map((one) => one.change)).toEqual([change]);
  });

  it.each<[unknown, number, string]>([
    ['[]', 400, 'invalid_request'],
    ['{', 400, 'invalid_json'],
    [{ account_id: 'x' }, 400, 'unknown_field'],
    [{ send_at: 'tomorrow' }, 400, 'invalid_send_at'],
    [{ send_at: '2027-02-29T08:00:00Z' }, 400, 'invalid_send_at'],
    [{ to: ' ' }, 400, 'missing_recipient_or_subject'],
    [{ to: 5 }, 400, 'invalid_request'],
    [{ attachments: [{ upload_id: 'x' }] }, 400, 'invalid_uuid'],
    [{ attachments: [{ filename: 'a', content: '?' }] }, 400, 'invalid_base64'],
  ])('that is %j is refused', async (body, status, code) => {
    const { response, json, asked } = await patch(body);
    expect([response.statusCode, json['code'], asked]).toEqual([status, code, []]);
  });

  it('that clears send_at does not send at once, and names the way to do that', async () => {
    const { response, json, asked } = await patch({ send_at: null });
    expect([response.statusCode, json['code'], asked]).toEqual([400, 'invalid_request', []]);
    expect(json['error']).toContain('send_at darf hier nicht null sein');
    expect(json['error']).toContain('"now"');
  });

  it.each<[Record<string, string>]>([[{}], [{ 'if-match': '*' }], [{ 'if-match': 'W/"3"' }]])(
    'that names no version is refused: %j',
    async (headers) => {
      const { response, json, asked } = await patch({ subject: 'x' }, headers);
      expect([response.statusCode, json['code'], asked]).toEqual([428, 'version_required', []]);
    },
  );

  it.each([
    ['email_changed', 412],
    ['not_editable', 409],
    ['email_not_found', 404],
  ] as const)('is told %s', async (code, status) => {
    const { response, json } = await patch(
      { subject: 'x' },
      undefined,
      new ServiceError(code, { details: '5' }),
    );
    expect([response.statusCode, json['code'], json['details']]).toEqual([status, code, '5']);
  });
});
