/** The threads that Dovecot builds from messages (RFC 5256 THREAD, algorithm REFS): another implementation to compare with. */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import type { MailServers } from './mail-servers.ts';

export interface DovecotSession {
  /** For each message the number of its group. The mailbox is empty before and afterwards. */
  threadsOf(messages: readonly (string | Buffer)[]): Promise<readonly number[]>;
  close(): Promise<void>;
}

export async function openDovecot({ host, imapPort, users }: MailServers): Promise<DovecotSession> {
  const socket = connect(imapPort, host);
  await once(socket, 'connect');
  const command = createCommands(socket);
  const { address, password } = users.alice;
  await command(Buffer.concat([Buffer.from(`LOGIN ${literal(address)}`), Buffer.from(literal(password))]));
  return {
    async threadsOf(messages) {
      const done = messages.map((message) => {
        const bytes = Buffer.from(message);
        return command(Buffer.concat([Buffer.from(`APPEND INBOX {${bytes.length}+}\r\n`), bytes]));
      });
      await Promise.all(done);
      await command(Buffer.from('SELECT INBOX'));
      const answer = await command(Buffer.from('THREAD REFS UTF-8 ALL'));
      const groups = parseThreads(/^\* THREAD (.*)\r$/m.exec(answer)?.[1] ?? '');
      await command(Buffer.from('STORE 1:* +FLAGS.SILENT (\\Deleted)'));
      await command(Buffer.from('EXPUNGE'));
      return messages.map((_, index) => groups.findIndex((group) => group.includes(index + 1)));
    },
    async close() {
      await command(Buffer.from('LOGOUT'));
      socket.destroy();
    },
  };
}

/** LITERAL+ (RFC 7888), so that nothing has to be quoted or waited for. */
const literal = (text: string): string => `{${Buffer.byteLength(text)}+}\r\n${text} `;

function createCommands(socket: Socket): (line: Buffer) => Promise<string> {
  let counter = 0;
  let received = '';
  const waiting = new Map<string, { resolve: (text: string) => void; reject: (error: Error) => void }>();
  socket.setEncoding('utf8');
  socket.on('data', (chunk: string) => {
    received += chunk;
    for (;;) {
      const match = /^(t\d+) (OK|NO|BAD)[^\r]*\r\n/m.exec(received);
      if (match === null) return;
      const text = received.slice(0, match.index);
      received = received.slice(match.index + match[0].length);
      const entry = waiting.get(match[1]!);
      waiting.delete(match[1]!);
      if (match[2] === 'OK') entry?.resolve(text);
      else entry?.reject(new Error(match[0]));
    }
  });
  return (line) =>
    new Promise((resolve, reject) => {
      counter += 1;
      waiting.set(`t${counter}`, { resolve, reject });
      socket.write(Buffer.concat([Buffer.from(`t${counter} `), line, Buffer.from('\r\n')]));
    });
}

/** The numbers in each pair of outermost brackets. */
function parseThreads(text: string): readonly (readonly number[])[] {
  const groups: number[][] = [];
  let depth = 0;
  for (const [token] of text.matchAll(/\(|\)|\d+/g)) {
    if (token === '(') {
      depth += 1;
      if (depth === 1) groups.push([]);
    } else if (token === ')') depth -= 1;
    else groups.at(-1)?.push(Number(token));
  }
  return groups;
}
