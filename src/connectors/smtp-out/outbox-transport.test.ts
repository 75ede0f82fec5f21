import { mkdtemp, readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createOutboxTransport } from './outbox-transport.ts';

const ENVELOPE = { mailFrom: null, rcptTo: ['a@example.test', 'b@example.test'] };
const BYTES = Buffer.from('Subject: x\r\n\r\n.dot\r\nbare\nlf\0\xff', 'latin1');

describe('createOutboxTransport', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'outbox-'));
  });
  afterEach(async () => {
    await rm(folder, { recursive: true });
  });

  it('writes the message byte for byte and the envelope beside it', async () => {
    const outbox = path.join(folder, 'new', 'outbox');
    const transport = createOutboxTransport(outbox);
    const result = await transport.send(ENVELOPE, { kind: 'bytes', bytes: BYTES });
    expect(result).toMatchObject({ kind: 'accepted', reply: { code: 250 }, relayMessageId: null });
    expect(result.recipients.map(({ address, state }) => [address, state])).toEqual([
      ['a@example.test', 'accepted'],
      ['b@example.test', 'accepted'],
    ]);
    const [eml, json, ...others] = (await readdir(outbox)).sort();
    expect(others).toEqual([]);
    expect(eml).toMatch(/^\d{8}T\d{6}\.\d{3}Z-[0-9a-f]{12}\.eml$/);
    expect(json).toBe(eml!.replace('.eml', '.json'));
    expect(await readFile(path.join(outbox, eml!))).toEqual(BYTES);
    expect(JSON.parse(await readFile(path.join(outbox, json!), 'utf8'))).toEqual(ENVELOPE);
  });

  it('copies a file', async () => {
    const file = path.join(folder, 'message');
    await writeFile(file, BYTES);
    const transport = createOutboxTransport(path.join(folder, 'outbox'));
    const results = await Promise.all(
      Array.from({ length: 20 }, () =>
        transport.send(ENVELOPE, { kind: 'file', path: file, sizeBytes: BYTES.length }),
      ),
    );
    expect(results.every(({ kind }) => kind === 'accepted')).toBe(true);
    const names = (await readdir(path.join(folder, 'outbox'))).filter((name) => name.endsWith('.eml'));
    expect(names).toHaveLength(20);
    expect(await readFile(path.join(folder, 'outbox', names[0]!))).toEqual(BYTES);
  });

  it.each([
    ['missing', 'nowhere', 5],
    ['of another size', 'message', 5],
  ])('puts off a file that is %s and leaves nothing behind', async (_, name, sizeBytes) => {
    await writeFile(path.join(folder, 'message'), BYTES);
    const transport = createOutboxTransport(path.join(folder, 'outbox'));
    const result = await transport.send(ENVELOPE, { kind: 'file', path: path.join(folder, name), sizeBytes });
    expect(result).toMatchObject({ kind: 'refused', temporary: true, reply: null });
    expect(await readdir(path.join(folder, 'outbox'))).toEqual([]);
  });

  it('refuses for now when the folder cannot be written', async () => {
    await writeFile(path.join(folder, 'outbox'), 'a file in the way');
    const transport = createOutboxTransport(path.join(folder, 'outbox'));
    const result = await transport.send(ENVELOPE, { kind: 'bytes', bytes: BYTES });
    expect(result).toMatchObject({
      kind: 'refused',
      temporary: true,
      detail: expect.not.stringContaining(folder),
    });
    await expect(transport.verify()).rejects.toThrow(/EEXIST/);
  });

  it('waits for messages under way when it is closed', async () => {
    const transport = createOutboxTransport(folder);
    const sending = transport.send(ENVELOPE, { kind: 'bytes', bytes: BYTES });
    await transport.close();
    expect((await readdir(folder)).some((name) => name.endsWith('.eml'))).toBe(true);
    expect((await sending).kind).toBe('accepted');
  });
});
