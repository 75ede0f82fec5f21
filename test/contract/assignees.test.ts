/** To whom threads can be assigned, and what a clerk's key may do. */
import { beforeAll, describe, expect, it } from 'vitest';
import { sendBody, useKeyService, type Json } from '../helpers/key-service.ts';

const { ask, makeKey } = useKeyService();

let clerk: { readonly id: string; readonly secret: string };
let threadId: string;
const clerksOf = async (account?: string, secret: string | null = null): Promise<readonly unknown[]> => {
  const { json } = await ask(
    secret,
    `/api/assignees${account === undefined ? '' : `?account_id=${account}`}`,
  );
  return (json['assignees'] as { name: string }[]).map(({ name }) => name);
};
const change = (json: Json, secret: string | null = null) =>
  ask(secret, `/api/threads/${threadId}`, { method: 'PATCH', json });

beforeAll(async () => {
  clerk = await makeKey({ name: 'Mia', rights: ['read', 'draft', 'send', 'handle'], account_ids: ['sales'] });
  await makeKey({ name: 'Ben', rights: ['read', 'send'] });
  await makeKey({ name: 'Chief', rights: ['admin'], account_ids: ['support'] });
  await makeKey({ name: 'Invoices', rights: ['send'] });
  await makeKey({ name: 'Mirror', rights: ['read', 'operate'] });
  const sent = await ask(null, '/api/send', { json: sendBody({ account_id: 'sales' }) });
  threadId = String(sent.json['threadId']);
});

describe('a thread', () => {
  it('is assigned to a key that may answer in its account, by its id, and shows its name', async () => {
    expect((await change({ assignee: clerk.id })).json).toMatchObject({
      assignee: clerk.id,
      assignee_name: 'Mia',
    });
    const { json } = await ask(null, `/api/threads?assignee=${clerk.id}`);
    expect(json['threads']).toMatchObject([{ id: threadId, assignee: clerk.id, assignee_name: 'Mia' }]);
    await ask(null, `/api/keys/${clerk.id}`, { method: 'PATCH', json: { name: 'Mia Berg' } });
    expect((await ask(null, `/api/threads/${threadId}`)).json['thread']).toMatchObject({
      assignee_name: 'Mia Berg',
    });
  });

  it('is not assigned to a name, to a key of other accounts, or to one that may not answer; the error says to whom it can be', async () => {
    const others = await ask(null, '/api/keys');
    const idOf = (name: string) =>
      (others.json['keys'] as { id: string; name: string }[]).find((key) => key.name === name)?.id ?? '';
    const before = (await ask(null, `/api/threads/${threadId}`)).json['thread'];
    for (const assignee of ['Ma', 'Mia', 'Ben', idOf('Chief'), idOf('Invoices'), idOf('Mirror')]) {
      const { status, json } = await change({ assignee, status: 'done' });
      expect([status, json['code']]).toEqual([400, 'unknown_assignee']);
      expect(json['error']).toContain(`Der Thread kann ${assignee} nicht zugewiesen werden.`);
      expect(json['error']).toContain(`${idOf('Ben')} (Ben), ${clerk.id} (Mia Berg).`);
    }
    expect((await ask(null, `/api/threads/${threadId}`)).json['thread']).toEqual(before);
    expect((await ask(null, '/api/threads?assignee=Ma')).status).toBe(400);
  });

  it('keeps an assignee whose key was revoked, with its name, and none is assigned to it anew', async () => {
    const leaving = await makeKey({ name: 'Leaving', rights: ['read', 'send'] });
    await change({ assignee: leaving.id });
    await ask(null, `/api/keys/${leaving.id}`, { method: 'DELETE' });
    expect((await change({ assignee: leaving.id, status: 'done' })).json).toMatchObject({
      assignee_name: 'Leaving',
      status: 'done',
    });
    expect((await change({ assignee: null })).json).toMatchObject({ assignee: null, assignee_name: null });
    expect((await change({ assignee: leaving.id })).json['code']).toBe('unknown_assignee');
  });
});

describe('the assignees', () => {
  it('are those who may read and answer, of one account or of all that the caller sees, with no secret', async () => {
    expect(await clerksOf()).toEqual(['Ben', 'Chief', 'Mia Berg']);
    expect(await clerksOf('sales')).toEqual(['Ben', 'Mia Berg']);
    expect(await clerksOf('support')).toEqual(['Ben', 'Chief']);
    expect(await clerksOf(undefined, clerk.secret)).toEqual(['Ben', 'Mia Berg']);
    const { json } = await ask(clerk.secret, '/api/assignees');
    expect(Object.keys((json['assignees'] as object[])[0] ?? {})).toEqual(['id', 'name']);
  });
});

describe('a clerk with the right `handle`', () => {
  it('marks, finishes, labels and assigns, and decides nothing of an operator', async () => {
    expect(
      (await change({ assignee: clerk.id, add_labels: ['offer'], status: 'done' }, clerk.secret)).status,
    ).toBe(200);
    for (const mark of ['read', 'unread'])
      expect((await ask(clerk.secret, `/api/thread/${threadId}/${mark}`, { method: 'POST' })).status).toBe(
        200,
      );
    for (const [path, method, json] of [
      [`/api/threads/${threadId}`, 'DELETE', undefined],
      [`/api/thread/${threadId}/split`, 'POST', { email_ids: [threadId] }],
      ['/api/statistics', 'GET', undefined],
    ] as const) {
      const answer = await ask(clerk.secret, path, { method, ...(json === undefined ? {} : { json }) });
      expect([path, answer.json['code']]).toEqual([path, 'forbidden_right']);
    }
  });
});
