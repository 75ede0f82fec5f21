/** When the text that a person writes is saved, and what is left of it when the page is closed. */
import type { Draft, DraftRequest } from 'email-worker-client';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { DeviceCopy } from '../../page/src/features/write/device-copy.ts';
import {
  DraftKeeper,
  lookForDrafts,
  loseDraft,
  type KeeperState,
} from '../../page/src/features/write/draft-keeper.ts';
import { recoverTexts } from '../../page/src/features/write/recover-texts.ts';

const failure = (code: string, status: number | null = null) =>
  Object.assign(new Error(code), { code, status });

/** Drafts in memory, with the rules of the service. */
function createService() {
  const drafts = new Map<string, Draft>();
  const writes: { readonly text: string; readonly keepalive: boolean }[] = [];
  let count = 0;
  let isAway = false;
  /** Addresses that no account sends as. */
  const refused = new Set<unknown>();
  const put = (id: string, version: number, request: DraftRequest, keepalive: boolean): Draft => {
    if (refused.has(request.message?.from)) throw failure('forbidden_from', 403);
    const draft = {
      id,
      version,
      author: request.author ?? null,
      message: { ...drafts.get(id)?.message, ...request.message },
      attachments: [],
    } as unknown as Draft;
    drafts.set(id, draft);
    writes.push({ text: draft.message.text_body ?? '', keepalive });
    return draft;
  };
  const reach = (): void => {
    if (isAway) throw failure('connection_failed');
  };
  return {
    drafts,
    writes,
    refused,
    setAway: (next: boolean) => void (isAway = next),
    store: {
      create: async (request: DraftRequest, { keepalive }: { keepalive: boolean }) => {
        reach();
        return put(`draft-${++count}`, 1, request, keepalive);
      },
      change: async (
        id: string,
        version: number,
        request: DraftRequest,
        { keepalive }: { keepalive: boolean },
      ) => {
        reach();
        const known = drafts.get(id);
        if (known === undefined) throw failure('draft_not_found', 404);
        if (known.version !== version) throw failure('draft_changed', 412);
        return put(id, version + 1, request, keepalive);
      },
      get: async (id: string) => {
        reach();
        const known = drafts.get(id);
        if (known === undefined) throw failure('draft_not_found', 404);
        return known;
      },
      list: async () => [...drafts.values()] as never,
    },
  };
}

/** The storage of one browser. */
function createBrowser() {
  const kept = new Map<string, DeviceCopy>();
  return {
    kept,
    copies: {
      keep: (key: string, copy: DeviceCopy) => void kept.set(key, copy),
      drop: (key: string) => void kept.delete(key),
      left: async (of: string) => [...kept].filter(([, copy]) => copy.of === of),
    },
  };
}

describe('a text that is being written', () => {
  let service: ReturnType<typeof createService>;
  let browser: ReturnType<typeof createBrowser>;
  let states: KeeperState[];
  const opened: DraftKeeper[] = [];
  /** For each draft that was lost: whether its text became a draft of its own. */
  let lost: boolean[];
  let refusals: number;
  let keys = 0;
  let loggedIn: string | null = 'mia';

  beforeEach(() => {
    vi.useFakeTimers();
    service = createService();
    browser = createBrowser();
    states = [];
    lost = [];
    refusals = 0;
    loggedIn = 'mia';
  });
  afterEach(() => {
    for (const keeper of opened.splice(0)) keeper.forget();
    vi.useRealTimers();
  });

  const begin = (draft: Draft | null = null) => {
    const keeper = new DraftKeeper({ author: 'Mia' }, draft, {
      drafts: service.store,
      copies: browser.copies,
      account: 'mia',
      isOurs: () => loggedIn === 'mia',
      key: `writer-${++keys}`,
      tell: (state) => void states.push(state),
      onLost: (isKept) => void lost.push(isKept),
      onRefusedSender: () => void (refusals += 1),
    });
    keeper.open();
    opened.push(keeper);
    return keeper;
  };
  const type = (keeper: DraftKeeper, text: string) => keeper.change({ text_body: text });
  const texts = () => [...service.drafts.values()].map(({ message }) => message.text_body);

  it('is saved at least every three seconds, however long keys keep coming', async () => {
    const keeper = begin();
    for (let key = 1; key <= 100; key++) {
      type(keeper, 'x'.repeat(key));
      await vi.advanceTimersByTimeAsync(200);
    }
    expect(service.writes.length).toBeGreaterThanOrEqual(6);
    expect(service.drafts.size).toBe(1);
    await vi.advanceTimersByTimeAsync(700);
    expect(texts()).toEqual(['x'.repeat(100)]);
  });

  it('is kept in the browser from the first key until the service has it', async () => {
    const keeper = begin();
    type(keeper, 'Dear Ann');
    expect([...browser.kept.values()]).toMatchObject([
      { of: 'mia', draft: null, request: { author: 'Mia', message: { text_body: 'Dear Ann' } } },
    ]);
    await vi.advanceTimersByTimeAsync(700);
    expect(texts()).toEqual(['Dear Ann']);
    expect(browser.kept.size).toBe(0);
  });

  it('is saved at once when the page is left, in a request that goes on without the page', async () => {
    const keeper = begin();
    type(keeper, 'Dear Ann');
    await keeper.saveNow();
    expect(service.writes).toEqual([{ text: 'Dear Ann', keepalive: true }]);
    type(keeper, 'x'.repeat(100_000));
    await keeper.saveNow();
    expect(service.writes.at(-1)?.keepalive).toBe(false);
  });

  it('goes to the service after a crash without a connection, into its draft', async () => {
    const keeper = begin();
    type(keeper, 'Dear Ann');
    await keeper.saveNow();
    service.setAway(true);
    type(keeper, 'Dear Ann, it has come');
    await keeper.saveNow();
    expect(states.at(-1)).toBe('failed');
    // The tab is killed; the page is opened again.
    vi.clearAllTimers();
    expect(await recoverTexts({ drafts: service.store, copies: browser.copies }, 'mia')).toBe(0);
    expect(browser.kept.size).toBe(1);
    service.setAway(false);
    expect(await recoverTexts({ drafts: service.store, copies: browser.copies }, 'ben')).toBe(0);
    expect(await recoverTexts({ drafts: service.store, copies: browser.copies }, 'mia')).toBe(1);
    expect(texts()).toEqual(['Dear Ann, it has come']);
    expect(browser.kept.size).toBe(0);
  });

  it('makes no second draft when the service had the text all along', async () => {
    const keeper = begin();
    type(keeper, 'Dear Ann');
    const [[key, copy]] = [...browser.kept] as [[string, DeviceCopy]];
    await keeper.saveNow();
    browser.kept.set(key, copy);
    expect(await recoverTexts({ drafts: service.store, copies: browser.copies }, 'mia')).toBe(0);
    expect(texts()).toEqual(['Dear Ann']);
    expect(browser.kept.size).toBe(0);
  });

  it('stands beside the text of another window that went on with the draft', async () => {
    const one = begin();
    type(one, 'First');
    await one.saveNow();
    const other = begin([...service.drafts.values()][0]);
    type(other, 'Second');
    await other.saveNow();
    type(one, 'First, and more');
    await one.saveNow();
    expect(states.at(-1)).toBe('elsewhere');
    expect(texts()).toEqual(['Second']);
    await one.close();
    await vi.advanceTimersByTimeAsync(0);
    expect(texts()).toEqual(['Second', 'First, and more']);
  });

  it('becomes a draft again when another window discarded the draft', async () => {
    const keeper = begin();
    type(keeper, 'Dear Ann');
    await keeper.saveNow();
    service.drafts.clear();
    type(keeper, 'Dear Ann, still here');
    await vi.advanceTimersByTimeAsync(1000);
    expect(texts()).toEqual(['Dear Ann, still here']);
    expect(lost).toEqual([true]);
  });

  it.each(['sent', 'discarded'] as const)(
    'that another window has %s stays, and is stored again when its writer asks for that',
    async (how) => {
      const keeper = begin();
      type(keeper, 'Dear Ann');
      await keeper.saveNow();
      service.drafts.clear();
      loseDraft('draft-2', how);
      expect(states.at(-1)).toBe('saved');
      loseDraft('draft-1', how);
      expect(states.at(-1)).toBe(how);
      await vi.advanceTimersByTimeAsync(10_000);
      await keeper.saveNow();
      expect(texts()).toEqual([]);
      expect(lost).toEqual([false]);
      await keeper.keep();
      expect(texts()).toEqual(['Dear Ann']);
      expect(states.at(-1)).toBe('saved');
    },
  );

  it('is stored whole with the files that are attached after its draft was lost', async () => {
    const keeper = begin();
    type(keeper, 'Dear Ann');
    await keeper.saveNow();
    service.drafts.clear();
    loseDraft('draft-1', 'discarded');
    await keeper.setFiles(() => []);
    expect(texts()).toEqual(['Dear Ann']);
  });

  it('is found to be lost after events were missed, and not while it is being sent', async () => {
    const keeper = begin();
    type(keeper, 'Dear Ann');
    await keeper.flush({});
    service.drafts.clear();
    lookForDrafts();
    await vi.advanceTimersByTimeAsync(0);
    expect(lost).toEqual([]);
    keeper.release();
    await vi.advanceTimersByTimeAsync(0);
    expect(states.at(-1)).toBe('discarded');
  });

  it('is not saved any more while the draft is sent', async () => {
    const keeper = begin();
    type(keeper, 'Dear Ann');
    await keeper.flush({});
    type(keeper, 'Dear Ann, too late');
    await vi.advanceTimersByTimeAsync(10_000);
    expect(texts()).toEqual(['Dear Ann']);
    keeper.release();
    await vi.advanceTimersByTimeAsync(3000);
    expect(texts()).toEqual(['Dear Ann, too late']);
  });

  it('is stored in the name of its writer alone, and after they logged in again', async () => {
    const keeper = begin();
    type(keeper, 'Dear Ann');
    for (const other of [null, 'ben']) {
      loggedIn = other;
      await keeper.saveNow();
      expect(service.writes).toEqual([]);
      expect(browser.kept.size).toBe(1);
    }
    loggedIn = 'mia';
    await vi.advanceTimersByTimeAsync(5000);
    expect(texts()).toEqual(['Dear Ann']);
  });

  it('is stored without a sender that the service refuses, and its writer is told once', async () => {
    service.refused.add('gone@company.test');
    const keeper = begin();
    keeper.change({ text_body: 'Hello', from: 'gone@company.test' });
    await vi.advanceTimersByTimeAsync(1000);
    type(keeper, 'Hello Ann');
    await vi.advanceTimersByTimeAsync(1000);
    expect(texts()).toEqual(['Hello Ann']);
    expect([...service.drafts.values()][0]?.message.from).toBeUndefined();
    expect([refusals, states.at(-1)]).toEqual([1, 'saved']);
    keeper.change({ from: 'gone@company.test' });
    await vi.advanceTimersByTimeAsync(1000);
    expect([refusals, states.at(-1)]).toEqual([2, 'saved']);
  });

  it('is not sent in the name of another sender when the service refuses the chosen one', async () => {
    service.refused.add('gone@company.test');
    const keeper = begin();
    type(keeper, 'Hello');
    await vi.advanceTimersByTimeAsync(1000);
    await expect(keeper.flush({ from: 'gone@company.test' })).rejects.toThrow('forbidden_from');
    keeper.release();
    await vi.advanceTimersByTimeAsync(1000);
    expect([texts(), states.at(-1)]).toEqual([['Hello'], 'saved']);
  });

  it('gets its files although the service refuses the sender', async () => {
    service.refused.add('gone@company.test');
    const keeper = begin();
    keeper.change({ text_body: 'Hello', from: 'gone@company.test' });
    await keeper.setFiles(() => []);
    expect([texts(), refusals]).toEqual([['Hello'], 1]);
  });

  it('of a crashed window is recovered without a sender that the service refuses', async () => {
    service.setAway(true);
    const keeper = begin();
    keeper.change({ text_body: 'Hello', from: 'gone@company.test' });
    await keeper.saveNow();
    vi.clearAllTimers();
    service.setAway(false);
    service.refused.add('gone@company.test');
    expect(await recoverTexts({ drafts: service.store, copies: browser.copies }, 'mia')).toBe(1);
    expect(texts()).toEqual(['Hello']);
    expect(browser.kept.size).toBe(0);
  });

  it('that is discarded is returned whole, with its draft, and no copy of it is left', async () => {
    const keeper = begin();
    type(keeper, 'Dear Ann');
    await keeper.saveNow();
    type(keeper, 'Dear Ann, no');
    const { draft, request } = await keeper.discard();
    expect(draft?.id).toBe('draft-1');
    expect(request).toMatchObject({ author: 'Mia', message: { text_body: 'Dear Ann, no' } });
    expect(browser.kept.size).toBe(0);
    await vi.advanceTimersByTimeAsync(10_000);
    expect(texts()).toEqual(['Dear Ann']);
  });
});
