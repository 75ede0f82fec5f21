/** Commands that ask a running service: send, search, thread, queue, accounts, webhooks, rules, events. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runCommandInProcess } from '../helpers/command-in-process.ts';
import { MAIN, startCommand } from '../helpers/command-process.ts';
import { findFreePort } from '../helpers/free-port.ts';
import { query } from '../helpers/query.ts';
import { startServiceWithSink } from '../helpers/running-service.ts';
import { TEST_SECRET } from '../helpers/service-process.ts';
import { makeTempFolder, type TempFolder } from '../helpers/temp-folder.ts';
import { waitUntil } from '../helpers/wait-until.ts';

type World = Awaited<ReturnType<typeof startServiceWithSink>>;
let world: World;
let folder: TempFolder;

beforeAll(async () => {
  [world, folder] = await Promise.all([
    startServiceWithSink({ WEBHOOK_ALLOW: '127.0.0.1', DNS_SERVERS: '127.0.0.1:9' }),
    makeTempFolder(),
  ]);
});
afterAll(async () => {
  await world.end();
  await folder.remove();
});

const envOf = (url = world.service.url) => ({ EMAIL_WORKER_URL: url, EMAIL_WORKER_KEY: TEST_SECRET });
const run = (args: readonly string[], url?: string, columns?: number) =>
  runCommandInProcess(args, {
    dataDir: folder.path,
    env: envOf(url),
    ...(columns === undefined ? {} : { columns }),
  });
const processOptions = () => ({
  env: { PATH: process.env.PATH ?? '', DATA_DIR: folder.path, ...envOf() },
  cwd: folder.path,
});

/** Returns the thread's id. */
async function receive(headers: string, body = 'Hello\r\n'): Promise<string> {
  const response = await world.service.request('/api/inbound', {
    method: 'POST',
    headers: { 'content-type': 'message/rfc822' },
    body: `From: Ada <ada@example.com>\r\nTo: sales@example.com\r\n${headers}\r\n\r\n${body}`,
  });
  expect(response.status).toBeLessThan(300);
  return ((await response.json()) as { threadId: string }).threadId;
}

/** Passes requests on to the service; `lose` selects the requests whose answers do not come back. */
async function startLosingProxy(
  lose: (method: string, target: string) => boolean,
): Promise<{ readonly url: string; readonly server: Server; readonly seen: string[] }> {
  const seen: string[] = [];
  const server = createServer((request, response) => {
    void (async () => {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk as Buffer);
      const { method = '', url: target = '' } = request;
      seen.push(`${method} ${target}`);
      const { host: _host, connection: _connection, 'content-length': _length, ...headers } = request.headers;
      const answer = await fetch(world.service.url + target, {
        method,
        headers: headers as Record<string, string>,
        ...(chunks.length === 0 ? {} : { body: Buffer.concat(chunks) }),
      });
      const body = Buffer.from(await answer.arrayBuffer());
      if (lose(method, target)) request.socket.destroy();
      else
        response
          .writeHead(answer.status, { 'content-type': answer.headers.get('content-type') ?? '' })
          .end(body);
    })();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, server, seen };
}

describe('send', () => {
  it('sends text, HTML and files, and prints what it became', async () => {
    const html = path.join(folder.path, 'offer.html');
    const file = path.join(folder.path, 'Angebot ü.pdf');
    await writeFile(html, '<p>Hello <b>Ada</b></p>');
    await writeFile(file, 'PDF bytes');
    const recipients = [
      '--to',
      'Ada <ada@example.com>',
      '--to',
      'bob@example.com',
      '--cc',
      'eve@example.com',
    ];
    const content = ['--subject', 'An offer', '--text', 'Hello', '--html', html, '--attach', file];
    const { exitCode, stdout, stderr } = await run(['send', ...recipients, ...content]);
    expect([exitCode, stderr]).toEqual([0, '']);
    const [, id = ''] = /^sent (\S+) in thread \S+\n$/.exec(stdout) ?? [];
    const message = world.sink.messages.at(-1);
    expect(message?.rcptTo).toEqual(['ada@example.com', 'bob@example.com', 'eve@example.com']);
    const detail = (await (await world.service.request(`/api/emails/${id}`)).json()) as Record<
      string,
      unknown
    >;
    expect(detail).toMatchObject({
      subject: 'An offer',
      html_body: '<p>Hello <b>Ada</b></p>',
      email_attachments: [{ filename: 'Angebot ü.pdf', content_type: 'application/pdf', size_bytes: 9 }],
    });
  });

  it('reads the text from standard input', async () => {
    const args = [MAIN, 'send', '--to', 'ada@example.com', '--subject', 'From a pipe'];
    const child = spawn(process.execPath, args, {
      ...processOptions(),
      stdio: ['pipe', 'ignore', 'inherit'],
    });
    child.stdin.end('Grüße\nfrom a pipe\n');
    const [exitCode] = (await once(child, 'close')) as [number];
    expect(exitCode).toBe(0);
    expect(world.sink.messages.at(-1)?.raw.toString('utf8')).toContain('Subject: From a pipe');
  });

  it('sends once, however often its answers are lost', async () => {
    let lost = 0;
    const proxy = await startLosingProxy(() => lost++ < 2);
    const { exitCode, stdout } = await run(
      ['send', '--to', 'ada@example.com', '--subject', 'Once alone', '--text', 'x'],
      proxy.url,
    );
    proxy.server.close();
    expect([exitCode, stdout]).toEqual([0, expect.stringMatching(/^sent /)]);
    expect(proxy.seen).toEqual(Array(3).fill('POST /api/send'));
    const copies = world.sink.messages.filter(({ raw }) => raw.includes('Subject: Once alone'));
    expect(copies).toHaveLength(1);
  });

  it('names the key when nothing is known, and the same command with it sends nothing again', async () => {
    const proxy = await startLosingProxy(() => true);
    const args = ['send', '--to', 'ada@example.com', '--subject', 'Never known', '--text', 'x'];
    const first = await run(args, proxy.url);
    proxy.server.close();
    expect(first.exitCode).toBe(1);
    const [, key = ''] = /--idempotency-key (\S+)/.exec(first.stderr) ?? [];
    const again = await run([...args, '--idempotency-key', key]);
    expect([again.exitCode, again.stdout]).toEqual([0, expect.stringMatching(/^sent /)]);
    expect(world.sink.messages.filter(({ raw }) => raw.includes('Subject: Never known'))).toHaveLength(1);
  });

  it('says what the mail server or the service refuses', async () => {
    const refused = await run(['send', '--to', 'x@refused.test', '--subject', 'y', '--text', 'z']);
    expect([refused.exitCode, refused.stdout]).toEqual([1, '']);
    expect(refused.stderr).toMatch(/^email-worker send: send_failed: .*550/);
    expect(refused.stderr).not.toContain('idempotency');
    expect(refused.stderr).toMatch(/; the email is [0-9a-f-]{36}\n$/);
    const partly = await run([
      'send',
      '--to',
      'ada@example.com, x@refused.test',
      '--subject',
      'y',
      '--text',
      'z',
    ]);
    expect([partly.exitCode, partly.stdout]).toEqual([1, expect.stringMatching(/^sent /)]);
    expect(partly.stderr).toMatch(/^x@refused\.test was refused: 550 /);
    const wrong = await run(['send', '--to', 'no-address', '--subject', 'y', '--text', 'z']);
    expect([wrong.exitCode, wrong.stderr]).toEqual([1, expect.stringContaining('invalid_address')]);
    const twice = await run(['send', '--to', 'ann@', '--cc', 'bob@', '--subject', 'y', '--text', 'z']);
    expect(twice.stderr).toBe(
      'email-worker send: invalid_address: Ungültige E-Mail-Adresse in to: ann@; ' +
        'invalid_address: Ungültige E-Mail-Adresse in cc: bob@\n',
    );
  });

  it('shows with --dry-run what it would send, and sends nothing', async () => {
    const before = world.sink.messages.length;
    const message = ['--to', 'ada@example.com', '--subject', 'Later', '--text', 'x'];
    const { exitCode, stdout } = await run(['send', '--dry-run', ...message]);
    expect(exitCode).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({
      status: 'checked',
      to: ['ada@example.com'],
      subject: 'Later',
    });
    const both = await run(['send', '--dry-run', '--draft', ...message]);
    expect([both.exitCode, both.stderr]).toEqual([2, expect.stringContaining('--dry-run goes with neither')]);
    expect(world.sink.messages.length).toBe(before);
  });

  it('leaves a draft, which sends nothing', async () => {
    const before = world.sink.messages.length;
    const { exitCode, stdout } = await run([
      'send',
      '--draft',
      '--subject',
      'Later',
      '--text',
      'x',
      '--json',
    ]);
    expect(exitCode).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ message: { subject: 'Later', text_body: 'x' } });
    expect(world.sink.messages.length).toBe(before);
  });

  it.each([
    [['--subject', 'x', '--text', 'y'], '--to is missing'],
    [['--to', 'a@example.com', '--text', 'y'], '--subject is missing'],
    [
      ['--to', 'a@example.com', '--subject', 'x', '--text', 'y', '--attach', '/nowhere'],
      "/nowhere can't be read",
    ],
    [['--to', 'a@example.com', '--subject', 'x', '--text', 'y', '--attach', '/'], "/ can't be read"],
    [
      ['--to', 'a@example.com', '--subject', 'x', '--text', 'y', '--idempotency-key', 'ü'],
      '--idempotency-key must',
    ],
    [['--to', 'a@example.com', '--subject', 'x', '--text', 'y', '--thread', 'x'], '--thread must be an id'],
  ])('%j can not be used', async (args, message) => {
    const result = await run(['send', ...args]);
    expect([result.exitCode, result.stdout, result.stderr]).toEqual([
      2,
      '',
      expect.stringContaining(message),
    ]);
  });
});

describe('the service that is asked', () => {
  it('is named by the address, and gets no secret that is not for it', async () => {
    const port = await findFreePort();
    const away = await run(['queue'], `http://127.0.0.1:${port}`);
    expect(away.exitCode).toBe(1);
    expect(away.stderr).toContain(`no service answers at http://127.0.0.1:${port}: start it`);

    const unnamed = { dataDir: folder.path, env: { API_SECRET: TEST_SECRET } };
    const without = await runCommandInProcess(['queue', '--url', world.service.url], unnamed);
    expect([without.exitCode, without.stderr]).toEqual([
      2,
      expect.stringContaining('EMAIL_WORKER_KEY is not set'),
    ]);
  });

  it('is named without a password, which is never quoted', async () => {
    const url = world.service.url.replace('//', '//alice:pass-of-alice@');
    const env = { EMAIL_WORKER_KEY: TEST_SECRET };
    for (const command of ['queue', 'mcp', 'login-link']) {
      const { exitCode, stderr } = await runCommandInProcess([command, '--url', url], {
        dataDir: folder.path,
        env,
      });
      expect([exitCode, stderr]).toEqual([
        2,
        expect.stringContaining('--url must hold no user and no password'),
      ]);
      expect(stderr).not.toContain('pass-of-alice');
    }
    const configured = await runCommandInProcess(['queue'], {
      dataDir: folder.path,
      env: { ...env, EMAIL_WORKER_URL: url },
    });
    expect(configured.stderr).toContain('EMAIL_WORKER_URL: must hold no user and no password');
    expect(configured.stderr).not.toContain('pass-of-alice');
  });

  it('is the one of this configuration, with its secret, when none is named', async () => {
    const port = new URL(world.service.url).port;
    const own = { dataDir: world.service.dataDir, env: { PORT: port, API_SECRET: TEST_SECRET } };
    expect(await runCommandInProcess(['accounts'], own)).toMatchObject({ exitCode: 0, stderr: '' });
    const { exitCode, stderr } = await runCommandInProcess(['accounts'], {
      dataDir: folder.path,
      env: { PORT: port },
    });
    expect([exitCode, stderr]).toEqual([1, expect.stringContaining('there is no API secret to read')]);
  });

  it('is told apart from other programs', async () => {
    const server = createServer((_, response) => response.end('<html>Log in</html>'));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { exitCode, stderr } = await run(
      ['queue'],
      `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    );
    server.close();
    expect([exitCode, stderr]).toEqual([1, expect.stringContaining('is not this service')]);
  });

  it('refuses a wrong key', async () => {
    const env = { EMAIL_WORKER_URL: world.service.url, EMAIL_WORKER_KEY: 'x'.repeat(32) };
    const { exitCode, stderr } = await runCommandInProcess(['queue'], { dataDir: folder.path, env });
    expect([exitCode, stderr]).toEqual([1, expect.stringContaining('invalid_credentials')]);
  });
});

describe('search and thread', () => {
  it('show hostile mail without a character that steers a terminal', async () => {
    const evil = '\u001b]0;owned\u0007 \u001b[2J \u009b31m \u202eback';
    const encoded = `=?utf-8?B?${Buffer.from(`Hostile ${evil}`).toString('base64')}?=`;
    await receive(
      `Message-ID: <hostile@example.com>\r\nSubject: ${encoded}\r\nContent-Type: text/plain; charset=utf-8\r\n` +
        `Content-Transfer-Encoding: base64`,
      Buffer.from(`first line\n${evil}\nlast\tline`).toString('base64'),
    );
    await waitUntil('the email is found', async () => (await run(['search', 'hostile'])).stdout !== '');
    const found = JSON.parse((await run(['search', 'hostile', '--json'])).stdout) as { thread_id: string };
    const outputs = [
      await run(['search', 'hostile'], undefined, 100),
      await run(['search', 'hostile', '--json']),
      await run(['thread', found.thread_id], undefined, 100),
      await run(['thread', found.thread_id, '--json']),
    ];
    for (const { exitCode, stdout } of outputs) {
      expect(exitCode).toBe(0);
      // Our own styles are the only escape sequences.
      const rest = stdout.replaceAll(/\u001b\[(?:1|2|22|31|39)m/g, '');
      // oxlint-disable-next-line no-control-regex
      expect(rest).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e]/);
    }
    const text = outputs[2]?.stdout ?? '';
    expect(text).toContain(
      '\nfirst line\n\\u001b]0;owned\\u0007 \\u001b[2J \\u009b31m \\u202eback\nlast    line\n',
    );
    expect(JSON.parse(outputs[3]?.stdout ?? '')).toMatchObject({
      emails: [{ text_body: expect.stringContaining(evil) as string }],
    });
  });

  it('finds by words and filters, with a limit, as a table or as JSON lines', async () => {
    for (const name of ['one', 'two', 'three']) {
      await receive(`Message-ID: <list-${name}@example.com>\r\nSubject: Listing ${name}`);
    }
    const search = async (...args: readonly string[]) => (await run(['search', 'listing', ...args])).stdout;
    await waitUntil('all are found', async () => (await search('--json')).trim().split('\n').length === 3);
    expect((await search('--limit', '2', '--json')).trim().split('\n')).toHaveLength(2);
    const table = (await search('--from', 'ada@example.com')).trim().split('\n');
    expect(table[0]).toMatch(/^DATE \(UTC\) +WITH +SUBJECT +THREAD$/);
    expect(
      table
        .slice(1)
        .map((line) => /Listing \w+/.exec(line)?.[0])
        .sort(),
    ).toEqual(['Listing one', 'Listing three', 'Listing two']);
    expect(await run(['search', 'nosuchwordanywhere'])).toEqual({
      exitCode: 0,
      stdout: '',
      stderr: 'no email matches\n',
    });
    expect((await run(['search', 'x', '--limit', '0'])).exitCode).toBe(2);
    expect((await run(['search', '--state', 'nonsense'])).exitCode).toBe(1);
  });

  it('prints a thread from its oldest email on, and of a long one the newest', async () => {
    const mail = (number: number, parent: string) =>
      receive(
        `Message-ID: <t${number}@example.com>\r\nSubject: Long story\r\nDate: Mon, 5 Jan 2026 10:0${number}:00 +0000${parent}`,
        `Part ${number}\r\n`,
      );
    await mail(1, '');
    await mail(2, '\r\nIn-Reply-To: <t1@example.com>');
    const id = await mail(3, '\r\nIn-Reply-To: <t2@example.com>');
    const all = await run(['thread', id]);
    expect(all.stdout.match(/Part \d/g)).toEqual(['Part 1', 'Part 2', 'Part 3']);
    const newest = await run(['thread', id, '--limit', '2']);
    expect(newest.stdout.match(/Part \d/g)).toEqual(['Part 2', 'Part 3']);
    expect(newest.stderr).toContain('only the newest 2 of 3 emails');
    expect((await run(['thread', 'x'])).exitCode).toBe(2);
    const none = await run(['thread', '0199d3a4-5b1e-7c52-9f0e-2f6a1d3b8c47']);
    expect([none.exitCode, none.stderr]).toEqual([1, expect.stringContaining('thread_not_found')]);
  });
});

describe('queue', () => {
  const queued = async (subject: string): Promise<string> => {
    const args = ['--to', 'ada@example.com', '--subject', subject, '--text', 'x'];
    const at = new Date(Date.now() + 86_400_000).toISOString();
    const { stdout } = await run(['send', ...args, '--at', at, '--json']);
    return (JSON.parse(stdout) as { id: string }).id;
  };

  it('shows what waits, cancels it, and sends it all the same', async () => {
    const id = await queued('To be cancelled');
    const before = await run(['queue']);
    expect(before.stdout).toMatch(new RegExp(`queued +${id} +in 24 h +ada@example.com +To be cancelled`));
    expect(await run(['queue', 'cancel', id])).toEqual({
      exitCode: 0,
      stdout: `${id} is cancelled\n`,
      stderr: '',
    });
    expect((await run(['queue', '--json'])).stdout).not.toContain(id);
    expect((await run(['queue', 'retry', id])).exitCode).toBe(0);
    await waitUntil('it was sent', async () =>
      world.sink.messages.some(({ raw }) => raw.includes('Subject: To be cancelled')),
    );
  });

  it('shows what is unknown, and takes the word of an operator for it', async () => {
    const id = await queued('Not known');
    await query(
      world.database.connectionConfig,
      `with q as (delete from send_queue where email_id = $1),
        d as (update email_deliveries set state = 'unknown' where email_id = $1)
       update emails set state = 'unknown', state_detail = 'the line broke' where id = $1`,
      [id],
    );
    expect((await run(['queue'])).stderr).toContain(
      'unknown whether they were sent: queue unknown lists them',
    );
    const { stdout } = await run(['queue', 'unknown'], undefined, 120);
    expect(stdout).toContain(id);
    expect(stdout).toContain('the line broke');
    expect((await run(['queue', 'resolve', id])).exitCode).toBe(2);
    const resolved = await run(['queue', 'resolve', id, '--outcome', 'sent', '--json']);
    expect(JSON.parse(resolved.stdout)).toEqual({ id, state: 'sent' });
    expect((await run(['queue', 'resolve', id, '--outcome', 'sent'])).exitCode).toBe(1);
  });

  it.each([
    [['nonsense'], 'the action must be one of'],
    [['retry'], 'the id of the email is missing'],
    [['retry', 'x'], '<id> must be an id'],
    [['list', 'x'], 'unexpected argument x'],
  ])('%j can not be used', async (args, message) => {
    const result = await run(['queue', ...args]);
    expect([result.exitCode, result.stderr]).toEqual([2, expect.stringContaining(message)]);
  });
});

describe('accounts and webhooks', () => {
  it('lists accounts', async () => {
    expect((await run(['accounts'])).stdout).toMatch(/^ACCOUNT .*\ndefault +Sales <sales@example.com> +- /);
    expect(JSON.parse((await run(['accounts', '--json'])).stdout)).toMatchObject({ id: 'default' });
  });

  it('tries, adds, pauses, resumes and removes an account', async () => {
    const file = path.join(folder.path, 'account.json');
    const account = { id: 'added', from: 'Added <added@example.com>', smtp_url: world.sink.url };
    await writeFile(file, JSON.stringify(account));
    expect(await run(['accounts', 'check', file])).toMatchObject({
      exitCode: 0,
      stdout: expect.stringMatching(
        /^ok: account added sends by 127\.0\.0\.1:\d+, without a log-in\nproblem: DNS /,
      ),
    });
    expect((await run(['accounts', 'add', file])).stdout).toBe('added is created\n');
    expect((await run(['accounts', 'pause', 'added'])).stdout).toBe('added is paused\n');
    expect((await run(['accounts'])).stdout).toMatch(/^added +Added <added@example.com> .* paused$/m);
    expect((await run(['accounts', 'resume', 'added'])).stdout).toBe('added is active\n');
    expect((await run(['accounts', 'resync', 'added'])).exitCode).toBe(0);
    const rules = path.join(folder.path, 'rules.json');
    await writeFile(rules, '{"never_addresses": ["*@bank.example"]}');
    expect((await run(['accounts', 'preview', 'added', '--rules', rules])).stdout).toMatch(
      /^0 emails judged\n(.*\n)+to be removed: 0 \(0 B\), which ends 0 threads\n$/,
    );
    expect(JSON.parse((await run(['accounts', 'preview', 'added', '--json'])).stdout)).toMatchObject({
      judged: 0,
    });
    await writeFile(rules, '{"never": []}');
    expect(await run(['accounts', 'preview', 'added', '--rules', rules])).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining('unknown_field'),
    });
    expect(
      await run(['accounts', 'apply', 'added', '--version', '3', '--emails', '3', '--dry-run']),
    ).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining('left_out_changed'),
    });
    for (const action of ['removal', 'stop-removal'])
      expect(await run(['accounts', action, 'added'])).toMatchObject({
        exitCode: 1,
        stderr: expect.stringContaining('removal_not_found'),
      });
    const removed = await run(['accounts', 'remove', 'added', '--json']);
    expect(JSON.parse(removed.stdout)).toMatchObject({ id: 'added' });
    expect(await run(['accounts', 'remove', 'default'])).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining('account_declared'),
    });
    await writeFile(file, JSON.stringify({ ...account, smtp_url: 'smtp://127.0.0.1:1' }));
    expect((await run(['accounts', 'check', file])).exitCode).toBe(1);
    await writeFile(file, '{"smtp_url": "smtp://u:a-secret@x"');
    const unread = await run(['accounts', 'add', file]);
    expect([unread.exitCode, unread.stderr]).toEqual([2, expect.stringContaining('the account is not JSON')]);
    expect(unread.stderr).not.toContain('a-secret');
  });

  it.each([
    [['nonsense'], 'the action must be one of'],
    [['pause'], 'the id of the account is missing'],
    [['list', 'x'], 'unexpected argument x'],
    [['add', '/no/such/file'], "can't be read"],
    [['apply', 'x'], '--emails must be'],
    [['apply', 'x', '--emails', '0'], '--emails must be'],
    [['apply', 'x', '--emails', '3'], '--version must be'],
    [['list', '--emails', '3'], '--emails belongs to apply'],
    [['preview', 'x', '--rules', '/no/such/file'], "can't be read"],
  ])('accounts %j can not be used', async (args, message) => {
    const result = await run(['accounts', ...args]);
    expect([result.exitCode, result.stderr]).toEqual([2, expect.stringContaining(message)]);
  });

  it('lists, pauses and resumes webhooks, and shows their deliveries', async () => {
    const response = await world.service.request('/api/webhooks', {
      json: { url: `http://127.0.0.1:${await findFreePort()}/hook`, description: 'CRM' },
    });
    const { webhook } = (await response.json()) as { webhook: { id: string } };
    expect((await run(['webhooks'])).stdout).toMatch(new RegExp(`\n${webhook.id} +(?:active|failing) `));
    await receive('Message-ID: <event@example.com>\r\nSubject: An event');
    await waitUntil('a delivery was tried', async () =>
      (await run(['webhooks', 'deliveries', webhook.id, '--outcome', 'failed'])).stdout.includes(
        'ECONNREFUSED',
      ),
    );
    expect((await run(['webhooks', 'pause', webhook.id])).stdout).toBe(`${webhook.id} is paused: by hand\n`);
    expect((await run(['webhooks'])).stdout).toContain('paused: by hand');
    expect((await run(['webhooks', 'resume', webhook.id])).stdout).toMatch(/ is (?:active|failing)\n$/);
    expect((await run(['webhooks', 'pause'])).exitCode).toBe(2);
    await world.service.request(`/api/webhooks/${webhook.id}`, { method: 'DELETE' });
  });
});

it('lists rules, and switches them on and off', async () => {
  const response = await world.service.request('/api/rules', {
    json: {
      name: 'Invoices',
      account_ids: ['default'],
      conditions: [{ subject: 'no such subject' }],
      actions: { add_labels: ['invoice'], status: 'done' },
    },
  });
  const { id } = (await response.json()) as { id: string };
  expect((await run(['rules'])).stdout).toMatch(
    new RegExp(`\n${id} +on +Invoices +default +1 +add_labels, status\n`),
  );
  expect((await run(['rules', 'off', id])).stdout).toBe(`${id} is off\n`);
  expect((await run(['rules'])).stdout).toMatch(new RegExp(`\n${id} +off `));
  expect((await run(['rules', 'on', id])).stdout).toBe(`${id} is on\n`);
  expect((await run(['rules', 'on'])).exitCode).toBe(2);
  expect((await run(['rules', 'delete', id])).exitCode).toBe(2);
  await world.service.request(`/api/rules/${id}`, { method: 'DELETE' });
});

describe('events', () => {
  const idsOf = (stdout: string): string[] =>
    stdout
      .trim()
      .split('\n')
      .map((line) => (JSON.parse(line) as { id: string }).id);

  it('prints all that are kept, and those behind one', async () => {
    await receive('Message-ID: <kept@example.com>\r\nSubject: Kept');
    const read = async () => (await run(['events'])).stdout;
    await waitUntil('the event is there', async () => (await read()).includes('"Kept"'));
    const all = idsOf(await read());
    expect(all.length).toBeGreaterThan(1);
    expect(all).toEqual([...all].sort());
    const behind = await run(['events', '--after', all[0] ?? '']);
    expect(idsOf(behind.stdout).slice(0, all.length - 1)).toEqual(all.slice(1));
    expect((await run(['events', '--after', 'x'])).exitCode).toBe(2);
  });

  it('follows until Ctrl-C, and says where to go on', async () => {
    const all = idsOf((await run(['events'])).stdout);
    const args = ['events', '--follow', '--after', all.at(-1) ?? '', '--type', 'email.received'];
    const follower = startCommand(args, { dataDir: folder.path, env: envOf() });
    await receive('Message-ID: <followed@example.com>\r\nSubject: Followed');
    await waitUntil('it was printed', async () => follower.stdout().includes('Followed'));
    follower.process.kill('SIGINT');
    expect(await follower.ended()).toBe(130);
    const [last] = idsOf(follower.stdout()).slice(-1);
    const [, next = ''] = /go on with --after (\S+)/.exec(follower.stderr()) ?? [];
    expect(next >= (last ?? '')).toBe(true);
    await receive('Message-ID: <followed-2@example.com>\r\nSubject: Followed again');
    const rest = async () => (await run(['events', '--after', next, '--type', 'email.received'])).stdout;
    await waitUntil('the next event is there', async () => (await rest()).includes('Followed again'));
    expect(await rest()).not.toContain('"Followed"');
  });

  it('ends in silence when its reader does', async () => {
    const shell = spawn(
      'sh',
      ['-c', `"${process.execPath}" "${MAIN}" events --follow --after 0000000000000000 | head -n 1`],
      {
        ...processOptions(),
        stdio: ['ignore', 'pipe', 'pipe'],
      },
    );
    const errors: Buffer[] = [];
    shell.stderr.on('data', (chunk: Buffer) => errors.push(chunk));
    shell.stdout.resume();
    const reader = { hasEnded: false };
    const closed = once(shell, 'close').then(() => (reader.hasEnded = true));
    // The command meets the closed pipe when it next writes.
    for (let beat = 1; !reader.hasEnded; beat += 1) {
      await receive(`Message-ID: <beat-${beat}@example.com>\r\nSubject: Beat ${beat}`);
      await Promise.race([closed, wait(300)]);
    }
    expect(Buffer.concat(errors).toString()).toBe('');
  });
});
