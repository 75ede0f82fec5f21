import { once } from 'node:events';
import { setImmediate as turn } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import { createTestHttpApp, SECRET, type TestHttpApp } from '../../test/helpers/http-app.ts';
import { connectRaw } from '../../test/helpers/raw-client.ts';
import { createRecordingApplication } from '../../test/helpers/recording-application.ts';

const MIB = 1024 * 1024;
const REQUESTS = 20;
const FILE_BYTES = 25 * MIB;
/**
 * Measured: 60 MB, clients included. If the attachments were held in memory it would be more than 500 MB, and 1,500 MB with their Base64.
 */
const MAX_GROWTH_BYTES = 300 * MIB;

let app: TestHttpApp | undefined;
afterEach(() => app?.close());

describe('memory', () => {
  it('stays small while twenty requests with 25 MiB of attachments arrive at once', async () => {
    const application = createRecordingApplication();
    app = await createTestHttpApp({ application });
    const port = await app.listen();
    // The code is loaded and compiled before the measuring starts.
    await upload(port, MIB);

    const before = process.memoryUsage.rss();
    let highest = before;
    const sampling = setInterval(() => (highest = Math.max(highest, process.memoryUsage.rss())), 10);
    const answers = await Promise.all(Array.from({ length: REQUESTS }, () => upload(port, FILE_BYTES)));
    clearInterval(sampling);

    expect(highest - before).toBeLessThan(MAX_GROWTH_BYTES);
    expect(answers.filter((answer) => answer.includes('"sent"'))).toHaveLength(REQUESTS);
    const sizes = application.sends.map(({ request }) =>
      request.attachments.map(({ content }) => content.kind === 'file' && content.sizeBytes),
    );
    expect(sizes).toEqual([[MIB], ...Array.from({ length: REQUESTS }, () => [FILE_BYTES])]);
    expect(await app.spooled()).toEqual([]);
  });
});

/** Sends one attachment of `sizeBytes`, generated while it is sent. */
async function upload(port: number, sizeBytes: number): Promise<string> {
  const head =
    '{"to":"a@example.com","subject":"s","text_body":"t","attachments":[{"filename":"f","content":"';
  const tail = '"}]}';
  const encoded = Math.ceil(sizeBytes / 3) * 4;
  const { socket, write, receive } = await connectRaw(port);
  await write(
    [
      'POST /api/send HTTP/1.1',
      'Host: x',
      `Authorization: Bearer ${SECRET}`,
      'Content-Type: application/json',
      `Content-Length: ${head.length + encoded + tail.length}`,
      '',
      head,
    ].join('\r\n'),
  );
  const piece = Buffer.alloc(64 * 1024, 'QUJD');
  const padded = sizeBytes % 3 === 0 ? 'QUJD' : sizeBytes % 3 === 1 ? 'QQ==' : 'QUI=';
  for (let left = encoded - 4; left > 0; left -= piece.length) {
    if (!socket.write(piece.subarray(0, Math.min(piece.length, left)))) await once(socket, 'drain');
    await turn();
  }
  await write(padded + tail);
  const answer = await receive('}');
  socket.destroy();
  return answer;
}
