/** An IMAP server that behaves, except where a script says otherwise: for behaviour that no real server can be made to show. */
import { createServer, type AddressInfo, type Socket } from 'node:net';

export interface ImapCommand {
  readonly tag: string;
  /** Upper-case, `UID FETCH` as one. */
  readonly verb: string;
  readonly args: string;
  /** Number of the connection, from 1. */
  readonly connection: number;
}

/** null: no answer. Text goes out as it is; a generator as fast as the line takes it, for as long as it continues. */
type Answer = string | null | AsyncIterable<string | Buffer> | Iterable<string | Buffer>;

export type ImapScript = Readonly<Record<string, (command: ImapCommand) => Answer | undefined>>;

export interface ScriptedImapServer {
  readonly port: number;
  /** Every command line of every connection. */
  readonly commands: readonly string[];
  /** Connections open now. */
  readonly open: number;
  close(): Promise<void>;
}

const CAPABILITIES = 'IMAP4rev1 SASL-IR LITERAL+ IDLE ENABLE CONDSTORE QRESYNC AUTH=PLAIN';

/** The usual answers of a server with one mailbox of three messages. */
const USUAL: ImapScript = {
  CONNECT: () => '* OK scripted\r\n',
  CAPABILITY: ({ tag }) => `* CAPABILITY ${CAPABILITIES}\r\n${tag} OK done\r\n`,
  AUTHENTICATE: ({ tag, args }) => (/^\S+$/.test(args) ? '+ \r\n' : `${tag} OK done\r\n`),
  LIST: ({ tag }) => `* LIST () "/" INBOX\r\n${tag} OK done\r\n`,
  ENABLE: ({ tag }) => `* ENABLED CONDSTORE QRESYNC\r\n${tag} OK done\r\n`,
  EXAMINE: ({ tag }) =>
    `* 3 EXISTS\r\n* OK [UIDVALIDITY 7] ok\r\n* OK [UIDNEXT 4] ok\r\n* OK [HIGHESTMODSEQ 9] ok\r\n${tag} OK [READ-ONLY] done\r\n`,
  'UID SEARCH': ({ tag }) => `* SEARCH 1 2 3\r\n${tag} OK done\r\n`,
  IDLE: () => '+ idling\r\n',
  LOGOUT: ({ tag }) => `* BYE\r\n${tag} OK done\r\n`,
};

export async function startScriptedImapServer(script: ImapScript = {}): Promise<ScriptedImapServer> {
  const commands: string[] = [];
  const sockets = new Set<Socket>();
  let connections = 0;
  const server = createServer((socket) => {
    connections += 1;
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket)).on('error', () => {});
    // The client cuts the connection when it has had enough.
    serve(socket, connections, script, commands).catch(() => socket.destroy());
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  return {
    port: (server.address() as AddressInfo).port,
    commands,
    get open() {
      return sockets.size;
    },
    async close() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => {
        server.close(resolve);
      });
    },
  };
}

async function serve(
  socket: Socket,
  connection: number,
  script: ImapScript,
  commands: string[],
): Promise<void> {
  const answer = async (command: ImapCommand): Promise<void> => {
    const scripted = script[command.verb]?.(command);
    const said =
      scripted === undefined ? (USUAL[command.verb]?.(command) ?? `${command.tag} OK done\r\n`) : scripted;
    if (said === null) return;
    if (typeof said === 'string') socket.write(said);
    else for await (const piece of said) if (!(await write(socket, piece))) return;
  };
  await answer({ tag: '*', verb: 'CONNECT', args: '', connection });
  let text = '';
  let waiting = '';
  for await (const chunk of socket.setEncoding('utf8')) {
    text += String(chunk);
    for (let end = text.indexOf('\r\n'); end !== -1; end = text.indexOf('\r\n')) {
      const line = text.slice(0, end);
      text = text.slice(end + 2);
      commands.push(line);
      const [, tag = '', verb = '', args = ''] = /^(\S+) ((?:UID )?\S+)(?: (.*))?$/i.exec(line) ?? [];
      // DONE, or the credentials: they end the previous command.
      if (tag === '')
        await answer({ tag: waiting, verb: line === 'DONE' ? 'DONE' : 'CONTINUED', args: line, connection });
      else {
        waiting = tag;
        await answer({ tag, verb: verb.toUpperCase(), args, connection });
      }
      if (/^LOGOUT$/i.test(verb) && script['LOGOUT'] === undefined) socket.end();
    }
  }
}

/** False when the connection is gone. */
function write(socket: Socket, piece: string | Buffer): Promise<boolean> {
  return new Promise((resolve) => {
    if (socket.destroyed) resolve(false);
    else socket.write(piece, (error) => resolve(error === undefined || error === null));
  });
}
