/** Whom a declaration lets do what, and what is logged of it. */
import { expect, expectTypeOf, it, vi } from 'vitest';
import type { Caller } from '../../core/keys/caller.ts';
import { ServiceError } from '../../core/errors.ts';
import { record, Timestamp, Uuid } from '../schemas/schemas.ts';
import { operationsWith, routedWith, type AccountRule, type Operation } from './declaration.ts';
import { createOperationRunner } from './run-operation.ts';
import type { Value } from './values.ts';

const Thing = record('Thing', { id: Uuid, account_id: { type: ['string', 'null'] }, made_at: Timestamp });
const ID = '11111111-1111-4111-8111-111111111111';
const ACTOR = { by: 'http', address: '127.0.0.1', credential: 1 } as const;

interface Deps {
  /** The account of the thing; undefined: there is none. */
  readonly accountId: string | null | undefined;
}

const operation = operationsWith<Deps>();
const routed = routedWith<Deps>();

const base = {
  right: 'read',
  tag: 'Things',
  summary: 'Read a thing',
  description: 'One thing.',
  answer: 'The thing.',
  output: Thing,
} as const;

const thingOf = ({ accountId }: Deps): Value<typeof Thing> => ({
  id: ID,
  accountId: accountId ?? null,
  madeAt: new Date(0),
});

const callerWith = (accounts: readonly string[] | null): Caller => ({
  author: { kind: 'key', id: '0123456789ab', name: 'CRM' },
  rights: ['admin'],
  accounts,
  expiresAt: null,
});

function createRunner(accountId: Deps['accountId']) {
  const log: string[] = [];
  const wake = vi.fn<() => void>();
  const runner = createOperationRunner<Deps>({
    accounts: {
      defaultAccountId: 'main',
      isKnown: (id) => ['main', 'sales'].includes(id),
      ofSender: () => 'main',
    },
    acts: {
      security: {
        note(event, fields) {
          const before = 'before' in fields ? ` before ${JSON.stringify(fields['before'])}` : '';
          log.push(`${event} ${String(fields['refused'] ?? 'done')}${before}`);
        },
      },
      log: {
        begin: async ({ act, target }) => {
          log.push(`begin ${act} ${target}`);
          return '1';
        },
        end: async (_position, code) => {
          log.push(`end ${code}`);
        },
      },
      logger: {
        debug: vi.fn<() => void>(),
        info: vi.fn<() => void>(),
        warn: vi.fn<() => void>(),
        error: vi.fn<() => void>(),
      },
    },
    deps: { accountId },
    wake,
  });
  return { ...runner, log, wake };
}

function run(
  one: Operation<Deps>,
  accounts: readonly string[] | null,
  accountId: Deps['accountId'],
  input = {},
) {
  const { run: runOperation, log, wake } = createRunner(accountId);
  const { signal } = new AbortController();
  const result = runOperation(one, { caller: callerWith(accounts), actor: ACTOR, input, signal });
  return { result, log, wake };
}

const codeOf = (result: Promise<unknown>) =>
  result.then(
    () => 'done',
    (error: unknown) => (error instanceof ServiceError ? error.code : error),
  );

const of = async (_input: object, { accountId }: Deps) => accountId;
const shown = ({ accountId }: Value<typeof Thing>) => accountId;

it.each([
  ['of', undefined, null, 'template_not_found', 'done', 'template_not_found'],
  ['of', 'allowed', null, 'done', 'done', 'template_not_found'],
  ['of', 'refused', null, 'forbidden_account', 'done', 'template_not_found'],
] as const)(
  'a thing that is found by %s and is %s for all accounts',
  async (_rule, shared, forAll, ofAll, own, other) => {
    const ran = vi.fn<() => void>();
    const one = operation({
      ...base,
      id: 'changeThing',
      method: 'PATCH',
      path: '/api/things/:id',
      account: { of, missing: 'template_not_found', ...(shared === undefined ? {} : { shared }) },
      run: async (_caller, _input, deps) => {
        ran();
        return thingOf(deps);
      },
    });
    expect(await codeOf(run(one, ['sales'], forAll).result)).toBe(ofAll);
    expect(await codeOf(run(one, ['sales'], 'sales').result)).toBe(own);
    ran.mockClear();
    expect(await codeOf(run(one, ['sales'], 'main').result)).toBe(other);
    expect(await codeOf(run(one, ['sales'], undefined).result)).toBe('template_not_found');
    expect(ran).not.toHaveBeenCalled();
    expect(await codeOf(run(one, null, 'main').result)).toBe('done');
  },
);

it('a read is checked by its answer, and never shows a thing of another account', async () => {
  const one = operation({
    ...base,
    id: 'getThing',
    method: 'GET',
    path: '/api/things/:id',
    account: { shown, missing: 'template_not_found' },
    run: async (_caller, _input, deps) => thingOf(deps),
  });
  expect(await codeOf(run(one, ['sales'], 'sales').result)).toBe('done');
  expect(await codeOf(run(one, ['sales'], 'main').result)).toBe('template_not_found');
  expect(await codeOf(run(one, ['sales'], null).result)).toBe('template_not_found');
  expect(await codeOf(run(one, null, null).result)).toBe('done');
});

it('a list is within the accounts of the caller, or within the one that is named', async () => {
  const one = operation({
    ...base,
    id: 'listThings',
    method: 'GET',
    path: '/api/things',
    query: { account_id: { type: 'string' } },
    account: 'list',
    run: async (_caller, { accountId, within }) => ({
      id: ID,
      accountId: JSON.stringify([accountId, within]),
      madeAt: new Date(0),
    }),
  });
  const listed = async (accounts: readonly string[] | null, input: object) =>
    (await run(one, accounts, null, input).result) as { accountId: string };
  expect(await listed(['sales'], {})).toMatchObject({ accountId: '[null,["sales"]]' });
  expect(await listed(['sales'], { accountId: 'sales' })).toMatchObject({ accountId: '["sales",null]' });
  expect(await listed(null, {})).toMatchObject({ accountId: '[null,null]' });
  expect(await codeOf(run(one, ['sales'], null, { accountId: 'main' }).result)).toBe('unknown_account');
  expect(await codeOf(run(one, null, null, { accountId: 'nobody' }).result)).toBe('unknown_account');
});

const acting = operation({
  ...base,
  id: 'endThing',
  method: 'DELETE',
  path: '/api/things/:id',
  params: { id: Uuid },
  account: { of, missing: 'template_not_found' },
  act: {
    event: 'template.deleted',
    what: ({ id }) => ({ templateId: id }),
    before: async (_input, { accountId }) => ({ accountId }),
    after: () => null,
  },
  run: async (_caller, _input, deps) => {
    if (deps.accountId === 'sales') throw new ServiceError('template_changed');
    return thingOf(deps);
  },
});

it.each([
  ['done', null, 'main', ['begin', 'template.deleted done before {"accountId":"main"}', 'end null'], 'done'],
  [
    'refused by what it does',
    null,
    'sales',
    ['begin', 'template.deleted template_changed before {"accountId":"sales"}', 'end template_changed'],
    'template_changed',
  ],
  [
    'refused for the account',
    ['sales'],
    'main',
    ['begin', 'template.deleted template_not_found before null', 'end template_not_found'],
    'template_not_found',
  ],
] as const)(
  'an act that is %s is in both logs, and wakes the loops',
  async (_name, accounts, accountId, log, code) => {
    const { result, log: logged, wake } = run(acting, accounts, accountId, { id: ID });
    expect(await codeOf(result)).toBe(code);
    const [begin, ...others] = log;
    expect(logged).toEqual([`${begin} template.deleted ${ID}`, ...others]);
    expect(wake).toHaveBeenCalledOnce();
  },
);

it('the state before is logged though the account rule refuses, to a caller who may see it', async () => {
  const renaming = operation({
    ...base,
    id: 'moveThing',
    method: 'PATCH',
    path: '/api/things/:id',
    account: {
      async decide(input, seen) {
        await seen.requireNamed('nobody');
        return input;
      },
    },
    act: {
      event: 'template.changed',
      what: () => ({}),
      before: async (_input, { accountId }) => ({ accountId }),
      after: () => null,
    },
    run: async (_caller, _input, deps) => thingOf(deps),
  });
  const { result, log } = run(renaming, null, 'main');
  expect(await codeOf(result)).toBe('unknown_account');
  expect(log).toContain('template.changed unknown_account before {"accountId":"main"}');
  const limited = run(renaming, ['sales'], 'main');
  expect(await codeOf(limited.result)).toBe('unknown_account');
  expect(limited.log).toContain('template.changed unknown_account before null');
});

it('a route that is written by hand works only once its caller may, and its act is logged', async () => {
  const { perform, log, wake } = createRunner('main');
  const work = vi.fn<() => Promise<string>>().mockResolvedValue('done');
  const change = routed<{ readonly thingId: string }, string>()({
    ...base,
    id: 'changeThing',
    method: 'PATCH',
    path: '/api/things/:id',
    account: { of, missing: 'template_not_found' },
    act: { event: 'template.changed', what: ({ thingId }) => ({ thingId }), after: (word) => word },
  });
  const performAs = (accounts: readonly string[] | null) =>
    perform(change, { caller: callerWith(accounts), actor: ACTOR, input: { thingId: ID } }, work);

  expect(await codeOf(performAs(['sales']))).toBe('template_not_found');
  expect(work).not.toHaveBeenCalled();
  expect(await performAs(['main'])).toBe('done');
  expect(log).toEqual([
    `begin template.changed ${ID}`,
    'template.changed template_not_found',
    'end template_not_found',
    `begin template.changed ${ID}`,
    'template.changed done',
    'end null',
  ]);
  expect(wake).toHaveBeenCalledTimes(2);
});

it('what a declaration leaves out does not compile', () => {
  type Declared = Parameters<typeof operation>[0];
  expectTypeOf<Declared>().toHaveProperty('account');
  const complete = {
    ...base,
    id: 'getThing',
    method: 'GET',
    path: '/api/things/:id',
    account: 'none',
    run: async (_caller: Caller, _input: object, deps: Deps) => thingOf(deps),
  } as const;
  expect(operation(complete).id).toBe('getThing');
  const { account: _account, ...withoutAccount } = complete;
  // @ts-expect-error -- without an account rule
  expect(operation(withoutAccount).id).toBe('getThing');
  const { right: _right, ...withoutRight } = complete;
  // @ts-expect-error -- without a right
  expect(operation(withoutRight).id).toBe('getThing');
  // @ts-expect-error -- a field of the answer is missing
  expect(operation({ ...complete, run: async () => ({ id: ID }) }).id).toBe('getThing');
  expectTypeOf<AccountRule<object, object, Deps>>().not.toBeNever();
});

it('two inputs of the same name, and a write that would look for its account in the answer, are refused', () => {
  const complete = { ...base, id: 'x', path: '/api/things/:id', params: { id: Uuid } } as const;
  const runs = { run: async (_caller: Caller, _input: object, deps: Deps) => thingOf(deps) };
  expect(() =>
    operation({ ...complete, ...runs, method: 'GET', account: 'none', query: { id: Uuid } }),
  ).toThrow('two inputs');
  expect(() =>
    operation({ ...complete, ...runs, method: 'POST', account: { shown, missing: 'not_found' } }),
  ).toThrow('would write');
  const declared = { ...base, id: 'x', path: '/api/things', method: 'POST' } as const;
  expect(() =>
    routed<object, string>()({ ...declared, account: { shown: (word) => word, missing: 'not_found' } }),
  ).toThrow('would write');
});
