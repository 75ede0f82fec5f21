/** Downloads that break off, or whose client stops reading. */
import { once } from 'node:events';
import { PassThrough, Readable } from 'node:stream';
import { afterEach, describe, expect, it } from 'vitest';
import { parseRawError, rawRequest, startRawHttp, type RawHttp } from '../../test/helpers/raw-http.ts';
import { FILE, IDS, sampleAttachment } from '../../test/helpers/sample-emails.ts';
import type { Application } from './application.ts';
import type { HttpLimits } from '../platform/http/connections/limits.ts';

let http: RawHttp;
async function start(limits?: Partial<HttpLimits>, overrides?: Partial<Application>): Promise<void> {
  http = await startRawHttp(limits, overrides);
}
afterEach(() => http.close());

describe('downloads', () => {
  const download = rawRequest('GET', `/api/attachments/${IDS.attachment}`);
  const large = { ...sampleAttachment, sizeBytes: 1_000_000_000 };

  it('are ended when the client goes away', async () => {
    const source = new Readable({
      read() {
        this.push(Buffer.alloc(65_536));
      },
    });
    await start({}, { readAttachment: async () => large, openAttachment: async () => source });
    const { write, socket } = await http.client();
    await write(download);
    await once(socket, 'data');
    socket.resetAndDestroy();
    await expect.poll(() => source.destroyed).toBe(true);
    expect(http.app.logs).toEqual([]);
  });

  it('are ended when the client takes nothing any more', async () => {
    const source = new Readable({
      read() {
        this.push(Buffer.alloc(65_536));
      },
    });
    const overrides = { readAttachment: async () => large, openAttachment: async () => source };
    await start({ answerIdleTimeoutMs: 300 }, overrides);
    const { write, socket, closed } = await http.client();
    socket.pause();
    await write(download);
    await expect.poll(() => source.destroyed).toBe(true);
    socket.resume();
    expect((await closed()).length).toBeLessThan(large.sizeBytes);
    expect(http.app.logs).toEqual([]);
  });

  it('that fail in the middle cut the connection, and are logged', async () => {
    const source = new PassThrough();
    await start({}, { openAttachment: async () => source });
    const { write, receive, closed } = await http.client();
    await write(download);
    source.write('01234');
    await receive('01234');
    source.destroy(new Error('disk on fire'));
    const answer = await closed();
    expect(answer).not.toContain('disk on fire');
    await expect.poll(() => http.app.logs).toMatchObject([{ level: 'error' }]);
  });

  it('of a file that is shorter than recorded cut the connection', async () => {
    const bytes = FILE.subarray(1);
    await start({}, { openAttachment: async () => Readable.from([bytes], { objectMode: false }) });
    const { write, closed } = await http.client();
    await write(download + rawRequest('GET', '/api/health'));
    expect(await closed()).not.toContain('email-worker-api');
    await expect.poll(() => http.app.logs).toMatchObject([{ level: 'error' }]);
  });

  it('of a file that is longer than recorded are an error', async () => {
    const bytes = Buffer.concat([FILE, FILE]);
    await start({}, { openAttachment: async () => Readable.from([bytes], { objectMode: false }) });
    const { write, receive } = await http.client();
    await write(download);
    const answer = await receive('"code"');
    expect(parseRawError(answer)).toMatchObject({ status: 500, code: 'internal_error' });
    expect(answer).not.toMatch(/etag|disposition|application.pdf/i);
    expect(http.app.logs).toMatchObject([{ level: 'error' }]);
  });
});
