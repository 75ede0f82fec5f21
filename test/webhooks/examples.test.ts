/** The examples of docs/api/webhooks.md check signatures as the library does. */
import { execFile, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { Webhook } from 'standardwebhooks';
import { describe, expect, it } from 'vitest';
import { findFreePort } from '../helpers/free-port.ts';
import { waitUntil } from '../helpers/wait-until.ts';

const ROOT = path.join(import.meta.dirname, '../..');
const DOCUMENT = readFileSync(path.join(ROOT, 'docs/api/webhooks.md'), 'utf8');
const example = (language: string) =>
  new RegExp(`\`\`\`${language}\n(.*?)\`\`\``, 's').exec(DOCUMENT)?.[1] ?? '';
const SECRET = `whsec_${Buffer.from('a secret of thirty-two bytes 123').toString('base64')}`;
const BODY = JSON.stringify({ id: '000512b000000004', type: 'email.sent', subject: 'Grüße' });

function headersAt(at: Date): Record<string, string> {
  return {
    'webhook-id': '000512b000000004',
    'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
    // As while a secret is rotated
    'webhook-signature': `v1,AAAA ${new Webhook(SECRET).sign('000512b000000004', at, BODY)}`,
  };
}
const fresh = () => headersAt(new Date());
const old = () => headersAt(new Date(Date.now() - 600_000));

it('for Node.js takes what is ours, and nothing else', async () => {
  const port = await findFreePort();
  // In a folder from which Node.js finds the modules that the file imports
  const file = path.join(ROOT, 'node_modules', '.cache', `webhooks-example-${process.pid}.mjs`);
  await mkdir(path.dirname(file), { recursive: true });
  await writeFile(file, example('js').replace('8080', String(port)));
  const child = spawn(process.execPath, [file], {
    env: { ...process.env, WEBHOOK_SECRET: SECRET },
    stdio: 'ignore',
  });
  try {
    const post = (headers: Record<string, string>, body = BODY) =>
      fetch(`http://127.0.0.1:${port}/`, { method: 'POST', headers, body }).then(({ status }) => status);
    await waitUntil('it listens', () =>
      post(fresh()).then(
        () => true,
        () => false,
      ),
    );
    expect(await post(fresh())).toBe(204);
    expect(await post(fresh(), `${BODY} `)).toBe(400);
    expect(await post(old())).toBe(400);
  } finally {
    child.kill();
    await rm(file, { force: true });
  }
});

describe('for Python', () => {
  const PROGRAM = `${example('python')}
import sys
headers, body = json.loads(sys.argv[1]), sys.argv[2].encode()
try:
    print(verify("${SECRET}", headers, body)["type"])
except ValueError as error:
    print(error)
`;
  it.each([
    ['what is ours', fresh, BODY, 'email.sent'],
    ['no other body', fresh, `${BODY} `, 'wrong signature'],
    ['nothing old', old, BODY, 'too old'],
  ])('takes %s', async (_, headers, body, said) => {
    const { stdout } = await promisify(execFile)('python3', ['-c', PROGRAM, JSON.stringify(headers()), body]);
    expect(stdout.trim()).toBe(said);
  });
});
