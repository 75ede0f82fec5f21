/** Logging in with OAuth2 tokens instead of a password. */
import { afterEach, expect, it } from 'vitest';
import { startRealSmtpServer } from '../../../test/helpers/real-smtp-server.ts';
import { startScriptedServer } from '../../../test/helpers/scripted-smtp-server.ts';
import { silentLogger } from '../../../test/helpers/silent-logger.ts';
import type { Content } from '../../platform/files/file-ports.ts';
import type { Envelope, Transport, TransportResult } from '../../areas/send/transport-ports.ts';
import { TokenError } from '../../areas/accounts/token-ports.ts';
import type { LoginTokens } from './open-session.ts';
import { createSmtpTransport } from './smtp-transport.ts';
import { parseSmtpUrl } from './smtp-url.ts';

const ENVELOPE: Envelope = { mailFrom: 'sender@example.com', rcptTo: ['a@example.test'] };
const SMALL: Content = { kind: 'bytes', bytes: Buffer.from('Subject: x\r\n\r\nHello\r\n') };

const open: { close(): Promise<unknown> }[] = [];
afterEach(async () => {
  for (const part of open.splice(0)) await part.close();
});

/** Returns these tokens in order: the next one when the previous one was refused. */
function tokensOf(...all: readonly string[]): LoginTokens & { readonly rejected: string[] } {
  const rejected: string[] = [];
  return {
    rejected,
    get: async () => all[Math.min(rejected.length, all.length - 1)]!,
    reject: (token) => void rejected.push(token),
  };
}

/** Accepts only `good`. */
async function startServer(good: string): Promise<number> {
  const server = await startRealSmtpServer({
    authMethods: ['XOAUTH2'],
    disabledCommands: ['STARTTLS'],
    allowInsecureAuth: true,
    onAuth: (auth, _, callback) => {
      if (auth.method === 'XOAUTH2' && auth.username === 'alice@example.com' && auth.accessToken === good) {
        callback(null, { user: 'alice@example.com' });
      } else callback(null, { data: { status: '401', schemes: 'bearer', scope: 'mail' } });
    },
  });
  open.push(server);
  return server.port;
}

function connect(port: number, tokens: LoginTokens): Transport {
  const options = parseSmtpUrl(`smtp://alice%40example.com@127.0.0.1:${port}`, {}, true);
  const transport = createSmtpTransport({ ...options, tokens, logger: silentLogger });
  open.unshift(transport);
  return transport;
}

const detailOf = (result: TransportResult) => JSON.stringify(result);

it('sends with a token', async () => {
  const tokens = tokensOf('good-token');
  const result = await connect(await startServer('good-token'), tokens).send(ENVELOPE, SMALL);
  expect(result.kind).toBe('accepted');
  expect(tokens.rejected).toEqual([]);
});

it('tries a new token once when the server does not take the one it has', async () => {
  const tokens = tokensOf('old-token', 'good-token');
  const result = await connect(await startServer('good-token'), tokens).send(ENVELOPE, SMALL);
  expect(result.kind).toBe('accepted');
  expect(tokens.rejected).toEqual(['old-token']);
});

it('puts a message off, and shows no token, when the server takes none', async () => {
  const result = await connect(await startServer('good-token'), tokensOf('old-token')).send(ENVELOPE, SMALL);
  expect(result.kind).toBe('refused');
  expect(detailOf(result)).toContain('deferred');
  expect(detailOf(result)).not.toContain('old-token');
});

it('shows no token when the server quotes the line that it refuses', async () => {
  const server = await startScriptedServer({
    extensions: ['AUTH XOAUTH2'],
    script: { auth: ({ command }) => `535 5.7.8 no: ${command}\r\n` },
  });
  open.push(server);
  const result = await connect(server.port, tokensOf('old-token')).send(ENVELOPE, SMALL);
  expect(result.kind).toBe('refused');
  expect(server.commands.some((line) => line.startsWith('AUTH XOAUTH2 '))).toBe(true);
  const secret = server.commands.find((line) => line.startsWith('AUTH'))!.split(' ')[2]!;
  expect(detailOf(result)).toContain('***');
  expect(detailOf(result)).not.toContain(secret);
});

it('puts a message off when there is no token', async () => {
  const tokens: LoginTokens = {
    get: () => Promise.reject(new TokenError('the consent is gone', true)),
    reject: () => {},
  };
  const result = await connect(await startServer('good-token'), tokens).send(ENVELOPE, SMALL);
  expect(result.kind).toBe('refused');
  expect(detailOf(result)).toMatch(/deferred.*the consent is gone|the consent is gone.*deferred/);
});

it('needs a token or a password', () => {
  expect(() => parseSmtpUrl('smtp://alice@h.example')).toThrow(/user and password/);
  expect(() => parseSmtpUrl('smtp://:secret@h.example', {}, true)).toThrow(/user and password/);
});
