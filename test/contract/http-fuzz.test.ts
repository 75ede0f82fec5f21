import type { InjectOptions } from 'fastify';
import { createTestHttpApp, AUTHORIZED } from '../helpers/http-app.ts';
import { createRecordingApplication } from '../helpers/recording-application.ts';
import { IDS } from '../helpers/sample-emails.ts';
import { describeHttpFuzz } from './http-fuzz.contract.ts';

describeHttpFuzz(
  'the HTTP edge',
  async () => {
    const app = await createTestHttpApp({ application: createRecordingApplication() });
    return {
      authorization: AUTHORIZED.authorization,
      samples: { thread_id: [IDS.thread], to: ['ann@example.com'] },
      unreachable: [],
      expectedFailures: [],
      async send({ method, url, headers, body }) {
        const response = await app.fastify.inject({
          method: method as NonNullable<InjectOptions['method']>,
          url,
          headers,
          ...(body === null ? {} : { payload: body }),
        });
        return { status: response.statusCode, headers: response.headers, body: response.body };
      },
      close: () => app.close(),
    };
  },
  300,
);
