/* oxlint-disable eslint/no-underscore-dangle -- the names are nodemailer's and Node's */
import { PassThrough, type Writable } from 'node:stream';
import { finished } from 'node:stream/promises';
import * as fc from 'fast-check';
import SMTPConnection from 'nodemailer/lib/smtp-connection';
import { expect, it } from 'vitest';
import { runs } from '../../../test/helpers/runs.ts';
import { skipWhatIsPlain, type DotStuffing } from './transparency.ts';

/** A stream as nodemailer creates it for a message, which writes to `socket`. */
function createStuffing(socket: Writable): DotStuffing {
  const library = new SMTPConnection({ host: '127.0.0.1' });
  const fields = library as unknown as {
    _socket: Writable;
    _createSendStream(callback: unknown): DotStuffing;
  };
  fields._socket = socket;
  return fields._createSendStream(() => {});
}

async function stuff(chunks: readonly Buffer[], prepare: (stream: DotStuffing) => void) {
  const socket = new PassThrough();
  const stream = createStuffing(socket);
  prepare(stream);
  const written: Buffer[] = [];
  socket.on('data', (chunk: Buffer) => written.push(chunk));
  for (const chunk of chunks) stream.write(chunk);
  stream.end();
  await finished(stream);
  return {
    bytes: Buffer.concat(written).toString('latin1'),
    in: stream.inByteCount,
    out: stream.outByteCount,
  };
}

it('gives what nodemailer gives, wherever lines and chunks end', async () => {
  const piece = fc.constantFrom('\r\n', '\r', '\n', '.', 'a', '..', 'text of a line', '\r\n.\r\n', '\r.\r');
  const chunk = fc.array(piece, { maxLength: 12 }).map((pieces) => Buffer.from(pieces.join('')));
  await fc.assert(
    fc.asyncProperty(fc.array(chunk, { maxLength: 5 }), async (chunks) => {
      expect(await stuff(chunks, skipWhatIsPlain)).toEqual(await stuff(chunks, () => {}));
    }),
    {
      numRuns: runs(5000),
      examples: [
        [[Buffer.from('a\r'), Buffer.from('\n.b')]],
        [[Buffer.from('.')]],
        [[Buffer.from('a\r\n'), Buffer.from('.\r\n')]],
        [[Buffer.from('a\r'), Buffer.from('.\r'), Buffer.from('b')]],
        [[Buffer.from('\n')]],
      ],
    },
  );
});

it('leaves lines that need nothing to no look at each byte', async () => {
  let looks = 0;
  const lines = Buffer.from('text of a line\r\n'.repeat(100));
  await stuff([lines, lines, Buffer.from('.dot\r\n')], (stream) => {
    const slow = stream._transform.bind(stream);
    stream._transform = (chunk, encoding, done) => {
      looks += 1;
      slow(chunk, encoding, done);
    };
    skipWhatIsPlain(stream);
  });
  expect(looks).toBe(1);
});
