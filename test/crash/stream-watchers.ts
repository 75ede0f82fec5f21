/** Finds the moments of a conversation at which the proxy can cut it. */

/**
 * SMTP: `before` DATA, `in` the message, `end`: the final dot is held back, `reply`: the reply to the message is.
 * PostgreSQL: `query`: the client's piece is held back, `reply`: the server's answer is.
 * IMAP: `before` APPEND, `in` the message, `reply`: the answer to it; `query`: anything else that the client sends.
 */
export type Moment = 'before' | 'in' | 'end' | 'reply' | 'query';

/** A moment, and how many bytes of the piece come before it. */
export interface Mark {
  readonly moment: Moment;
  readonly offset: number;
}

export interface Watcher {
  fromClient(chunk: Buffer): readonly Mark[];
  fromServer(chunk: Buffer): readonly Mark[];
}

const DOT = Buffer.from('\r\n.\r\n');

/** RFC 5321 §3.3: commands are lines; after 354 comes the message, until a line with one dot. */
export function watchSmtp(): Watcher {
  let state: 'commands' | 'message' | 'awaiting-reply' = 'commands';
  /** The end of the previous piece: a command or the final dot may be split. */
  let tail = Buffer.alloc(0);

  return {
    fromClient(chunk) {
      const marks: Mark[] = [];
      if (state === 'awaiting-reply') state = 'commands';
      if (state === 'commands') {
        const text = tail.toString('latin1') + chunk.toString('latin1');
        const data = /(^|\n)DATA\r\n/i.exec(text);
        if (data === null) {
          tail = Buffer.from(text.slice(-5), 'latin1');
          return marks;
        }
        const start = data.index + (data[1]?.length ?? 0) - tail.length;
        marks.push({ moment: 'before', offset: Math.max(0, start) });
        state = 'message';
        tail = Buffer.from('\r\n');
        return marks;
      }
      marks.push({ moment: 'in', offset: Math.floor(chunk.length / 2) });
      const joined = Buffer.concat([tail, chunk]);
      const end = joined.lastIndexOf(DOT);
      if (end >= 0 && end + DOT.length === joined.length) {
        // The line break belongs to the message, the dot and the rest belong to its end.
        marks.push({ moment: 'end', offset: Math.max(0, end + 2 - tail.length) });
        state = 'awaiting-reply';
        tail = Buffer.alloc(0);
      } else {
        tail = Buffer.from(joined.subarray(-4));
      }
      return marks;
    },
    fromServer(chunk) {
      if (state === 'message' && /^[45]/.test(chunk.toString('latin1'))) {
        state = 'commands';
        tail = Buffer.alloc(0);
      }
      return state === 'awaiting-reply' ? [{ moment: 'reply', offset: 0 }] : [];
    },
  };
}

/** Every piece is a moment: with this client each statement is one piece. */
export function watchPostgres(): Watcher {
  return {
    fromClient: () => [{ moment: 'query', offset: 0 }],
    fromServer: () => [{ moment: 'reply', offset: 0 }],
  };
}

/** RFC 9051 §6.3.12: APPEND, then the message as a literal, before which the client may wait for the server's request. */
export function watchImap(): Watcher {
  let isAppending = false;
  return {
    fromClient(chunk) {
      const begin = chunk.indexOf(' APPEND ');
      if (begin >= 0) {
        isAppending = true;
        return [{ moment: 'before', offset: 0 }];
      }
      if (!isAppending) return [{ moment: 'query', offset: 0 }];
      return [{ moment: 'in', offset: Math.floor(chunk.length / 2) }];
    },
    fromServer(chunk) {
      if (!isAppending || !chunk.includes('APPENDUID')) return [];
      isAppending = false;
      return [{ moment: 'reply', offset: 0 }];
    },
  };
}
