/** The LMTP and SMTP listeners of the built service, over the wire. */
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { createTransport } from 'nodemailer';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createCertificate } from '../helpers/certificate.ts';
import { mail, newId } from '../helpers/inbound-mail.ts';
import { createTestDatabase, type TestDatabase } from '../helpers/postgres.ts';
import { query } from '../helpers/query.ts';
import { connectRaw, type RawClient } from '../helpers/raw-client.ts';
import { disposeService, startServiceProcess, type ServiceProcess } from '../helpers/service-process.ts';
import { makeTempFolder } from '../helpers/temp-folder.ts';

const MAX_BYTES = 1_000_000;

let database: TestDatabase;
let folder: Awaited<ReturnType<typeof makeTempFolder>>;
let service: ServiceProcess;

beforeAll(async () => {
  [database, folder] = await Promise.all([createTestDatabase(), makeTempFolder()]);
  const { cert, key } = createCertificate();
  const file = async (name: string, text: string) => {
    await writeFile(path.join(folder.path, name), text);
    return path.join(folder.path, name);
  };
  const accounts = [
    { id: 'sales', from: 'Sales <sales@example.com>' },
    { id: 'help', from: 'help@example.com' },
  ];
  service = await startServiceProcess({
    env: {
      DATABASE_URL: database.connectionString,
      ACCOUNTS_FILE: await file('accounts.json', JSON.stringify(accounts)),
      LMTP_LISTEN: '127.0.0.1:0',
      SMTP_LISTEN: '127.0.0.1:0',
      LISTEN_TLS_CERT_FILE: await file('cert.pem', cert),
      LISTEN_TLS_KEY_FILE: await file('key.pem', key),
      MAX_INBOUND_BYTES: String(MAX_BYTES),
    },
  });
});
afterAll(async () => {
  await disposeService(service);
  await folder.remove();
  await database.drop();
});

function portOf(from: ServiceProcess, protocol: 'lmtp' | 'smtp'): number {
  const line = from.log.find((one) => one.includes(`"protocol":"${protocol}","address"`));
  return Number(/"address":"127\.0\.0\.1:(\d+)"/.exec(line ?? '')?.[1]);
}

/** The emails with that Message-ID. */
async function recorded(messageId: string): Promise<readonly Record<string, unknown>[]> {
  return await query(
    database.connectionString,
    'select account_id, automatic from emails where message_id = $1 order by account_id',
    [messageId.slice(1, -1)],
  );
}

/** Begins a transaction; returns the reply to each RCPT. */
async function begin(
  client: RawClient,
  hello: string,
  mailFrom: string,
  recipients: readonly string[],
): Promise<readonly string[]> {
  const ask = async (command: string) => {
    const from = client.received().length;
    await client.write(`${command}\r\n`);
    await expect.poll(() => /^\d{3} .*\r\n$/m.test(client.received().slice(from))).toBe(true);
    return client.received().slice(from).trim();
  };
  await client.receive('\r\n');
  await ask(hello);
  await ask(`MAIL FROM:<${mailFrom}>`);
  const replies: string[] = [];
  for (const recipient of recipients) replies.push(await ask(`RCPT TO:<${recipient}>`));
  await ask('DATA');
  return replies;
}

/** The replies after the end of the message. */
async function end(client: RawClient, raw: string, count: number): Promise<readonly string[]> {
  const from = client.received().length;
  const lines = () => client.received().slice(from).split('\r\n').slice(0, -1);
  await client.write(`${raw.replace(/^\./gm, '..')}.\r\n`);
  await expect.poll(lines).toHaveLength(count);
  client.socket.destroy();
  return lines();
}

describe('LMTP', () => {
  it('answers each recipient, and records once for each account', async () => {
    const messageId = newId();
    const client = await connectRaw(portOf(service, 'lmtp'));
    const replies = await begin(client, 'LHLO relay.test', '', [
      'sales@example.com',
      'Help+ticket-7@EXAMPLE.com',
      'help@example.com',
      'other@example.com',
    ]);
    expect(replies.map((reply) => reply.slice(0, 3))).toEqual(['250', '250', '250', '550']);
    const ends = await end(client, mail({ messageId, body: 'eins\r\n.zwei' }), 3);
    expect(ends.map((reply) => reply.slice(0, 9))).toEqual(['250 2.0.0', '250 2.0.0', '250 2.0.0']);
    expect(await recorded(messageId)).toEqual([
      { account_id: 'help', automatic: expect.objectContaining({ evidence: 'null sender' }) as unknown },
      { account_id: 'sales', automatic: expect.objectContaining({ evidence: 'null sender' }) as unknown },
    ]);
  });

  it('answers a recipient as often as it was named, in any case, whatever the outcome', async () => {
    const names = [
      'sales@example.com',
      'SALES@example.com',
      'help@example.com',
      'sales@example.com',
      'Help@Example.com',
    ];
    const messageId = newId();
    const client = await connectRaw(portOf(service, 'lmtp'));
    const replies = await begin(client, 'LHLO relay.test', 'ada@customer.test', names);
    expect(replies.map((reply) => reply.slice(0, 3))).toEqual(['250', '250', '250', '250', '250']);
    const ends = await end(client, mail({ messageId }), names.length);
    expect(ends.map((reply) => reply.slice(0, 9))).toEqual(names.map(() => '250 2.0.0'));
    expect((await recorded(messageId)).map((row) => row['account_id'])).toEqual(['help', 'sales']);
    const other = await connectRaw(portOf(service, 'lmtp'));
    await begin(other, 'LHLO relay.test', 'ada@customer.test', names);
    const large = mail({ body: `${'x'.repeat(70)}\r\n`.repeat(MAX_BYTES / 70) });
    expect((await end(other, large, names.length)).map((reply) => reply.slice(0, 3))).toEqual(
      names.map(() => '552'),
    );
  });

  it.each(['lmtp', 'smtp'] as const)('refuses parameters that are not known: %s', async (protocol) => {
    const client = await connectRaw(portOf(service, protocol));
    await client.receive('\r\n');
    const lines = [
      `${protocol === 'lmtp' ? 'LHLO' : 'EHLO'} relay.test`,
      'MAIL FROM:<ada@customer.test> FOO=bar',
      'MAIL FROM:<ada@customer.test> RET=FULL',
      'MAIL FROM:<ada@customer.test> SIZE=100 body=8BITMIME SMTPUTF8',
      'RCPT TO:<sales@example.com> FOO=bar',
      'RCPT TO:<sales@example.com> NOTIFY=NEVER',
      'RCPT TO:<other@example.com> FOO',
      'RCPT TO:<sales@example.com>',
      'QUIT',
    ];
    await client.write(`${lines.join('\r\n')}\r\n`);
    const replies = (await client.closed()).match(/^\d{3} .*$/gm) ?? [];
    expect(replies.slice(2).map((reply) => reply.slice(0, 3))).toEqual([
      '555',
      '555',
      '250',
      '555',
      '555',
      '555',
      '250',
      '221',
    ]);
  });

  it('records nothing of a message whose connection breaks', async () => {
    const messageId = newId();
    const client = await connectRaw(portOf(service, 'lmtp'));
    await begin(client, 'LHLO relay.test', 'ada@customer.test', ['sales@example.com']);
    await client.write(mail({ messageId }));
    client.socket.destroy();
    const next = newId();
    const other = await connectRaw(portOf(service, 'lmtp'));
    await begin(other, 'LHLO relay.test', 'ada@customer.test', ['sales@example.com']);
    await end(other, mail({ messageId: next }), 1);
    expect(await recorded(next)).toHaveLength(1);
    expect(await recorded(messageId)).toHaveLength(0);
  });

  it('puts mail off while the database is unavailable', { tags: ['long'] }, async () => {
    const away = await createTestDatabase();
    const other = await startServiceProcess({
      env: {
        DATABASE_URL: away.connectionString,
        MAIL_FROM: 'sales@example.com',
        LMTP_LISTEN: '127.0.0.1:0',
      },
    });
    await away.drop();
    const client = await connectRaw(portOf(other, 'lmtp'));
    await begin(client, 'LHLO relay.test', 'ada@customer.test', ['sales@example.com']);
    const [reply] = await end(client, mail(), 1);
    expect(reply).toMatch(/^451 4\.3\.0 /);
    await disposeService(other);
  });
});

describe('a message', () => {
  const SEPARATORS = ['\n.\n', '\n.\r\n', '\r\n.\n', '\r.\r', '\r\n.\r', '\r\n\0.\r\n', '\n.\r'];

  const deliver = async (protocol: 'lmtp' | 'smtp', body: string, messageId: string) => {
    const client = await connectRaw(portOf(service, protocol));
    const hello = protocol === 'lmtp' ? 'LHLO relay.test' : 'EHLO relay.test';
    await begin(client, hello, 'ada@customer.test', ['sales@example.com']);
    const from = client.received().length;
    await client.write(`${mail({ messageId, body })}\r\n.\r\nQUIT\r\n`);
    return (await client.closed()).slice(from).trim().split('\r\n');
  };

  it.each(SEPARATORS)(
    'with %j is refused by SMTP, so that no second one is smuggled in',
    async (separator) => {
      const [messageId, smuggledId] = [newId(), newId()];
      const smuggled = `MAIL FROM:<boss@example.com>\r\nRCPT TO:<help@example.com>\r\nDATA\r\n${mail({ messageId: smuggledId })}`;
      const replies = await deliver('smtp', `eins${separator}${smuggled}`, messageId);
      expect(replies.map((reply) => reply.slice(0, 9))).toEqual(['550 5.6.0', '221 Bye'.slice(0, 9)]);
      expect(await recorded(messageId)).toHaveLength(0);
      expect(await recorded(smuggledId)).toHaveLength(0);
    },
  );

  it.each(SEPARATORS)(
    'with %j is kept whole when a mail server of ours hands it over by LMTP',
    async (separator) => {
      const [messageId, smuggledId] = [newId(), newId()];
      const body = `eins${separator}MAIL FROM:<boss@example.com>\r\n${mail({ messageId: smuggledId })}`;
      const replies = await deliver('lmtp', body, messageId);
      expect(replies.map((reply) => reply.slice(0, 3))).toEqual(['250', '221']);
      expect(await recorded(messageId)).toHaveLength(1);
      expect(await recorded(smuggledId)).toHaveLength(0);
    },
  );

  it.each(['a\rb', 'a\nb', 'a\0b', 'a\r\r\nb'])('is refused by SMTP for %j alone', async (body) => {
    const messageId = newId();
    expect((await deliver('smtp', body, messageId))[0]).toMatch(/^550 5\.6\.0 /);
    expect(await recorded(messageId)).toHaveLength(0);
  });
});

describe('a command', () => {
  const SENDER = 'MAIL FROM:<ada@customer.test>';
  const RECIPIENT = 'RCPT TO:<sales@example.com>';
  const HELLO = { lmtp: 'LHLO relay.test', smtp: 'EHLO relay.test' } as const;
  /** All that a client writes, in pieces; gives the codes of the replies behind the greeting, without the lines of the hello before its last. */
  const say = async (protocol: 'lmtp' | 'smtp', pieces: Iterable<string>) => {
    const client = await connectRaw(portOf(service, protocol));
    client.socket.setNoDelay(true);
    await client.receive('\r\n');
    for (const piece of pieces) await client.write(piece);
    const replies = (await client.closed()).match(/^\d{3} .*$/gm) ?? [];
    return replies.slice(1).map((reply) => reply.slice(0, /^5\d\d /.test(reply) ? 9 : 3));
  };

  it.each(
    (['lmtp', 'smtp'] as const).flatMap((protocol) =>
      ['\n', '\r', '\r\r\n', '\0\r\n', '\n\r\n'].map((end) => [protocol, end] as const),
    ),
  )('by %s that ends in %j is refused, and changes nothing', async (protocol, end) => {
    const messageId = newId();
    // A bare CR ends nothing: the line goes on to the next CRLF.
    const bad = (command: string) => `${command}${end}${end === '\r' ? 'x\r\n' : ''}`;
    const lines = [
      `${HELLO[protocol]}\r\n`,
      bad(SENDER),
      `${RECIPIENT}\r\n`,
      `${SENDER}\r\n`,
      bad('RCPT TO:<help@example.com>'),
      bad('RSET'),
      `${RECIPIENT}\r\n`,
      bad('DATA'),
      'DATA\r\n',
      `${mail({ messageId })}\r\n.\r\n`,
      bad('QUIT'),
      'QUIT\r\n',
    ];
    // What follows a bare LF in front of CRLF is an empty command.
    const refused = end === '\n\r\n' ? ['500 5.5.2', '500'] : ['500 5.5.2'];
    const expected = [
      '250',
      ...refused,
      '503',
      '250',
      ...refused,
      ...refused,
      '250',
      ...refused,
      '354',
      '250',
      ...refused,
      '221',
    ];
    const replies = await say(protocol, [lines.join('')]);
    expect(replies.map((reply, index) => reply.slice(0, expected[index]?.length))).toEqual(expected);
    expect(await recorded(messageId)).toEqual([expect.objectContaining({ account_id: 'sales' })]);
  });

  it.each(['lmtp', 'smtp'] as const)('by %s is read wherever its bytes are cut', async (protocol) => {
    const messageId = newId();
    const commands = `${HELLO[protocol]}\r\n${SENDER}\r\n${RECIPIENT}\r\nNOOP\nNOOP\r\nDATA\r\n`;
    const all = `${commands}${mail({ messageId })}\r\n.\r\nQUIT\r\n`;
    const expected = ['250', '250', '250', '500 5.5.2', '250', '354', '250', '221'];
    expect(await say(protocol, all)).toEqual(expected);
    expect(await recorded(messageId)).toHaveLength(1);
  });
});

describe('an envelope', () => {
  const say = async (protocol: 'lmtp' | 'smtp', lines: readonly string[]) => {
    const client = await connectRaw(portOf(service, protocol));
    await client.receive('\r\n');
    const hello = protocol === 'lmtp' ? 'LHLO relay.test' : 'EHLO relay.test';
    await client.write(Buffer.from(`${[hello, ...lines, 'QUIT'].join('\r\n')}\r\n`));
    const replies = (await client.closed()).match(/^\d{3} .*$/gm) ?? [];
    return replies.slice(2).map((reply) => reply.slice(0, 9).trim());
  };

  it.each(['lmtp', 'smtp'] as const)(
    'has other characters than ASCII only with SMTPUTF8: %s',
    async (protocol) => {
      const replies = await say(protocol, [
        'MAIL FROM:<ad\u00e4@customer.test>',
        'MAIL FROM:<ada@k\u00fcche.test>',
        'MAIL FROM:<ada@xn--kche-0ra.test>',
        'RCPT TO:<sales+\u00e4@example.com>',
        'RCPT TO:<sales@example.com>',
        'RSET',
        'MAIL FROM:<ad\u00e4@k\u00fcche.test> SMTPUTF8',
        'RCPT TO:<sales+\u00e4@example.com>',
      ]);
      expect(replies).toEqual([
        '553 5.6.7',
        '553 5.6.7',
        '250 Accep',
        '553 5.6.7',
        '250 Accep',
        '250 Flush',
        '250 Accep',
        '250 Accep',
        '221 Bye',
      ]);
    },
  );

  it.each(['lmtp', 'smtp'] as const)(
    'takes postmaster, with and without a domain of ours: %s',
    async (protocol) => {
      const replies = await say(protocol, [
        'MAIL FROM:<>',
        'RCPT TO:<postmaster>',
        'RCPT TO:<PostMaster>',
        'RCPT TO:<Postmaster@EXAMPLE.com>',
        'RCPT TO:<postmaster@customer.test>',
      ]);
      expect(replies).toEqual(['250 Accep', '250 Accep', '250 Accep', '250 Accep', '550 5.1.1', '221 Bye']);
    },
  );
});

describe('clients that take too much', () => {
  /** A connection from another address of this machine, accepted with a greeting or refused. */
  async function connectFrom(localAddress: string, port: number): Promise<RawClient> {
    const client = await connectRaw(port, { localAddress });
    await client.receive('\r\n');
    return client;
  }

  it('and do nothing with it, a hundred of one address, leave room for others, who get mail through', async () => {
    const port = portOf(service, 'smtp');
    const idle = await Promise.all(Array.from({ length: 100 }, () => connectFrom('127.0.0.2', port)));
    const greetings = idle.map((client) => client.received().slice(0, 3));
    expect(greetings.filter((code) => code === '220')).toHaveLength(50);
    expect(greetings.filter((code) => code === '421')).toHaveLength(50);
    const messageId = newId();
    const other = await connectRaw(port);
    await begin(other, 'EHLO relay.test', 'ada@customer.test', ['sales@example.com']);
    expect((await end(other, mail({ messageId }), 1))[0]).toMatch(/^250 /);
    // Another address fills the rest; then the connection that has been idle longest makes room.
    const more = await Promise.all(Array.from({ length: 50 }, () => connectFrom('127.0.0.3', port)));
    const late = await connectRaw(port);
    await begin(late, 'EHLO relay.test', 'ada@customer.test', ['sales@example.com']);
    expect((await end(late, mail({ messageId: newId() }), 1))[0]).toMatch(/^250 /);
    expect([...idle, ...more].filter((client) => client.received().includes('421 4.3.2'))).not.toHaveLength(
      0,
    );
    for (const { socket } of [...idle, ...more]) socket.destroy();
    const told = () =>
      service.log
        .filter((line) => line.includes('"mail_client.refused"'))
        .map((line) => JSON.parse(line) as object);
    await expect.poll(told).toEqual([
      expect.objectContaining({
        log: 'security',
        protocol: 'smtp',
        address: '127.0.0.2',
        reason: 'address',
        count: 1,
      }),
      expect.objectContaining({ count: 10 }),
    ]);
  });

  it.each([
    ['name unknown recipients', ['EHLO a.test', 'MAIL FROM:<a@b.test>'], 'RCPT TO:<nobody@example.com>', 20],
    ['say unknown commands', [], 'FROBNICATE', 20],
    ['say commands out of order', [], 'DATA', 20],
    ['only say NOOP', [], 'NOOP', 1001],
    ['only reset', ['EHLO a.test'], 'RSET', 1001],
  ])('and %s again and again are cut off', async (_name, first, command, most) => {
    const client = await connectRaw(portOf(service, 'smtp'));
    await client.receive('\r\n');
    for (const line of first) {
      const from = client.received().length;
      await client.write(`${line}\r\n`);
      await expect.poll(() => /^\d{3} .*\r\n$/m.test(client.received().slice(from))).toBe(true);
    }
    await client.write(`${command}\r\n`.repeat(3000));
    const lines = (await client.closed()).trim().split('\r\n');
    expect(lines.at(-1)).toMatch(/^421 /);
    expect(lines.length).toBeLessThan(most + 10);
  });
});

describe('SMTP', () => {
  const send = (fields: object) =>
    createTransport({
      host: '127.0.0.1',
      port: portOf(service, 'smtp'),
      requireTLS: true,
      tls: { rejectUnauthorized: false },
    }).sendMail({ envelope: { from: 'ada@customer.test', to: ['sales@example.com'] }, ...fields });

  it('takes a message after STARTTLS, once however often it comes', async () => {
    const messageId = newId();
    const raw = mail({ messageId });
    expect((await send({ raw })).response).toMatch(/^250 2\.0\.0 /);
    expect((await send({ raw })).response).toMatch(/^250 2\.0\.0 /);
    expect(await recorded(messageId)).toHaveLength(1);
  });

  it('refuses messages that are too large and recipients that no account has', async () => {
    const messageId = newId();
    const large = mail({
      messageId,
      body: 'x'
        .repeat(70)
        .concat('\r\n')
        .repeat(MAX_BYTES / 70),
    });
    await expect(send({ raw: large })).rejects.toMatchObject({ responseCode: 552 });
    // A message that does not declare its size is read to its end.
    const client = await connectRaw(portOf(service, 'smtp'));
    await begin(client, 'EHLO relay.test', 'ada@customer.test', ['sales@example.com']);
    expect((await end(client, large, 1))[0]).toMatch(/^552 /);
    expect(await recorded(messageId)).toHaveLength(0);
    const envelope = { from: 'ada@customer.test', to: ['ada@customer.test'] };
    await expect(send({ raw: mail(), envelope })).rejects.toMatchObject({ responseCode: 550 });
  });
});
