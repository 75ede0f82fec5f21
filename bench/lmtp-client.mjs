/** Delivers mails by LMTP as a relay does: one after the other on each of several connections, commands in groups (RFC 2920). */
import { once } from 'node:events';
import { connect } from 'node:net';

/** Delivers mails from `next` until it returns undefined. Throws for an answer that is not positive. */
async function deliverOn(port, recipient, next) {
  const socket = connect({ port, host: '127.0.0.1', noDelay: true });
  let buffered = '';
  const answer = async () => {
    for (;;) {
      const end = /^\d{3} .*\r\n/m.exec(buffered);
      if (end !== null) {
        buffered = buffered.slice(end.index + end[0].length);
        if (!/^[23]/.test(end[0])) throw new Error(end[0]);
        return;
      }
      const [chunk] = await once(socket, 'data');
      buffered += chunk.toString('latin1');
    }
  };
  const say = (text) => {
    socket.write(text);
    return answer();
  };
  await answer();
  await say('LHLO bench.example\r\n');
  for (let mail = next(); mail !== undefined; mail = next()) {
    await say(`MAIL FROM:<relay@bench.example>\r\nRCPT TO:<${recipient}>\r\nDATA\r\n`);
    await answer();
    await answer();
    await say(`${mail.replace(/^\./gm, '..')}\r\n.\r\n`);
  }
  socket.end('QUIT\r\n');
}

export async function deliver({ port, recipient, mails, connections }) {
  const left = mails.values();
  const next = () => left.next().value;
  await Promise.all(Array.from({ length: connections }, () => deliverOn(port, recipient, next)));
}
