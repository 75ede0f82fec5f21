/**
 * Makes nodemailer's dot-stuffing (RFC 5321 §4.5.2) skip chunks that need none. nodemailer examines each byte in JavaScript, which was a
 * fifth of the processor time of a send with a large file; here native code finds the lines of a message. A chunk that needs a change is
 * left to nodemailer: one with a line that begins with a dot, or with a lone CR or LF, which a server could take for the end of a line and
 * so of the message.
 */
/* oxlint-disable eslint/no-underscore-dangle -- the name is Node's */
import type { Transform, TransformCallback } from 'node:stream';

const CR = 0x0d;
const LF = 0x0a;
const DOT = 0x2e;

/** nodemailer 10's DataStream. `lastByte`: of the previous chunk; false before the first. */
export interface DotStuffing extends Transform {
  inByteCount: number;
  outByteCount: number;
  lastByte: number | false;
}

export function skipWhatIsPlain(stream: DotStuffing): void {
  const stuff = stream._transform.bind(stream);
  stream._transform = (chunk: unknown, encoding: BufferEncoding, done: TransformCallback) => {
    if (!Buffer.isBuffer(chunk) || !isPlain(chunk, stream.lastByte)) {
      stuff(chunk, encoding, done);
      return;
    }
    stream.inByteCount += chunk.length;
    stream.outByteCount += chunk.length;
    stream.lastByte = chunk[chunk.length - 1] as number;
    done(null, chunk);
  };
}

/** True when the chunk is sent unchanged: its lines end with CRLF, and none begins with a dot. */
function isPlain(chunk: Buffer, lastByte: number | false): boolean {
  if (chunk.length === 0) return false;
  const first = chunk[0];
  // The line end may be split: CR in the previous chunk, LF here.
  if (lastByte === CR ? first !== LF : first === LF) return false;
  if (first === DOT && (lastByte === LF || lastByte === false)) return false;
  let at = lastByte === CR ? 1 : 0;
  if (at === 1 && chunk[1] === DOT) return false;
  for (;;) {
    const lf = chunk.indexOf(LF, at);
    const cr = chunk.indexOf(CR, at);
    if (lf === -1) return cr === -1 || cr === chunk.length - 1;
    if (cr + 1 !== lf) return false;
    at = lf + 1;
    if (chunk[at] === DOT) return false;
  }
}
