/**
 * A mail server in a process of its own that counts the messages it accepts, and those that it puts off: each one is a line of the ledger, written before the reply, so
 * that `kill -9` loses nothing that was acknowledged. The parent sets by IPC how many of the next accepted messages get a cut line instead
 * of their reply, and how long the replies take: `replyMs` is used in turn.
 *
 * Recipients: `…@refused.test` → 550, `…@later.test` → 451. Subjects: `[refuse]` → 554, `[defer]` → 451 after DATA.
 */
import { createHash } from 'node:crypto';
import { openSync, writeSync } from 'node:fs';
import { SMTPServer } from 'smtp-server';

const ledger = openSync(process.argv[2], 'a');
let dropReplies = 0;
let replyMs = [0];
let turn = 0;
process.on('message', (message) => {
  dropReplies = message.dropReplies ?? dropReplies;
  replyMs = message.replyMs ?? replyMs;
});
process.on('disconnect', () => process.exit(0));

const failure = (responseCode, text) => Object.assign(new Error(text), { responseCode });
const sockets = new Map();

const server = new SMTPServer({
  authOptional: true,
  disabledCommands: ['STARTTLS', 'AUTH'],
  disableReverseLookup: true,
  socketTimeout: 20_000,
  onRcptTo(address, _session, callback) {
    const domain = address.address.split('@').at(-1);
    if (domain === 'refused.test') callback(failure(550, '5.1.1 no such user'));
    else if (domain === 'later.test') callback(failure(451, '4.7.1 try again later'));
    else callback();
  },
  onData(stream, session, callback) {
    const chunks = [];
    stream.on('data', (chunk) => chunks.push(chunk));
    stream.on('end', () => {
      const raw = Buffer.concat(chunks);
      const end = raw.indexOf('\r\n\r\n');
      const head = raw.subarray(0, end < 0 ? raw.length : end).toString('latin1');
      const subject = /^Subject: (.*)$/im.exec(head)?.[1] ?? '';
      if (subject.includes('[refuse]')) return callback(failure(554, '5.7.1 content refused'));
      const line = {
        token: /crash-[\w-]+/.exec(subject)?.[0] ?? subject,
        messageId: /^Message-ID:\s*(<[^>]+>)/im.exec(head)?.[1] ?? '',
        sha256: createHash('sha256').update(raw).digest('hex'),
        sizeBytes: raw.length,
        rcptTo: session.envelope.rcptTo.map((rcpt) => rcpt.address),
        at: Date.now(),
        putOff: subject.includes('[defer]'),
      };
      writeSync(ledger, `${JSON.stringify(line)}\n`);
      if (line.putOff) return callback(failure(451, '4.3.2 not now'));
      if (dropReplies > 0) {
        dropReplies -= 1;
        sockets.get(`${session.remoteAddress}:${session.remotePort}`)?.resetAndDestroy();
        return undefined;
      }
      const delayMs = replyMs[turn++ % replyMs.length];
      if (delayMs === 0) return callback(null, '2.0.0 queued');
      return setTimeout(() => callback(null, '2.0.0 queued'), delayMs);
    });
  },
});
server.on('error', () => undefined);
server.server.on('connection', (socket) => {
  const name = `${socket.remoteAddress}:${socket.remotePort}`;
  sockets.set(name, socket);
  socket.on('error', () => undefined);
  socket.on('close', () => sockets.delete(name));
});
server.listen(0, '127.0.0.1', () => process.send({ port: server.server.address().port }));
