/** A list in which mail keeps arriving, while its reader scrolls. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { LiveList, type ListData } from '../../page/src/api/live-list.ts';
import { runs } from '../helpers/runs.ts';

const SIZE = 5;

interface Line {
  readonly id: string;
  /** Decides its place: the highest first. */
  readonly at: number;
}
interface Page {
  readonly lines: readonly Line[];
  readonly next: string | null;
}

/** A service with `count` lines, and a reader who has loaded the first page. */
function createWorld(count: number) {
  let lines: readonly Line[] = Array.from({ length: count }, (_, index) => ({
    id: `line ${index}`,
    at: count - index,
  }));
  let data: ListData<Page> | undefined;
  let loads = 0;
  let isAway = false;
  const load = async (cursor: string | null): Promise<Page> => {
    loads += 1;
    await Promise.resolve();
    if (isAway) throw new Error('away');
    const rest = cursor === null ? lines : lines.filter(({ at }) => at < Number(cursor));
    const found = rest.slice(0, SIZE);
    return { lines: found, next: rest.length > SIZE ? String(found.at(-1)?.at) : null };
  };
  const list = new LiveList<Page>({
    load,
    read: () => data,
    write: (next) => void (data = next),
    stopLoads: () => Promise.resolve(),
  });
  return {
    list,
    loadNext: async () => {
      const cursor = data === undefined ? null : data.pages.at(-1)?.next;
      if (cursor === undefined || (data !== undefined && cursor === null)) return;
      const page = await load(cursor);
      data = {
        pages: [...(data?.pages ?? []), page],
        pageParams: [...(data?.pageParams ?? []), cursor],
      };
    },
    change: (next: (lines: readonly Line[]) => readonly Line[]) => {
      lines = next(lines).toSorted((one, other) => other.at - one.at);
      list.touch();
    },
    settle: async () => {
      for (let turn = 0; turn < 200; turn++) await Promise.resolve();
    },
    setAway: (next: boolean) => void (isAway = next),
    get loads() {
      return loads;
    },
    get lines() {
      return lines;
    },
    get pages() {
      return data?.pages ?? [];
    },
  };
}

/** The page holds what the service has at that place, from its first line on; the first page begins with the first line. */
function isTrue({ lines, pages }: ReturnType<typeof createWorld>, page: number): boolean {
  const shown = pages[page]?.lines ?? [];
  if (shown.length === 0) return true;
  const begin = lines.findIndex(({ id }) => id === shown[0]?.id);
  return (
    (page > 0 || begin === 0) &&
    shown.every(({ id, at }, index) => lines[begin + index]?.id === id && lines[begin + index]?.at === at)
  );
}

const top = (lines: readonly Line[]): number => Math.max(0, ...lines.map(({ at }) => at)) + 1;

describe('a list that is kept true', () => {
  it('shows mail that arrived while its reader had scrolled down, once the reader is back at the top', async () => {
    const world = createWorld(60);
    for (let page = 0; page < 6; page++) await world.loadNext();
    world.list.show(5, 5);
    world.change((lines) => [...lines, { id: 'new', at: top(lines) }]);
    await world.settle();
    expect(world.pages[0]?.lines[0]?.id).toBe('line 0');
    world.list.show(0, 0);
    await world.settle();
    expect(world.pages[0]?.lines[0]?.id).toBe('new');
  });

  it('takes a line away that left the list, wherever the reader is, with one request', async () => {
    const world = createWorld(60);
    for (let page = 0; page < 6; page++) await world.loadNext();
    world.list.show(4, 4);
    const before = world.loads;
    world.change((lines) => lines.filter(({ id }) => id !== 'line 22'));
    await world.settle();
    expect(world.pages[4]?.lines.map(({ id }) => id)).not.toContain('line 22');
    expect(world.loads - before).toBe(1);
  });

  it('loads nothing while nothing happens, however the reader scrolls', async () => {
    const world = createWorld(60);
    for (let page = 0; page < 6; page++) await world.loadNext();
    const before = world.loads;
    for (const page of [0, 3, 5, 1]) world.list.show(page, page);
    await world.settle();
    expect(world.loads).toBe(before);
  });

  it('shows, after any events and any scrolling, exactly what the service has at that place', async () => {
    const step = fc.oneof(
      fc.record({ kind: fc.constant('arrive' as const), line: fc.nat(80) }),
      fc.record({ kind: fc.constant('leave' as const), line: fc.nat(80) }),
      fc.record({ kind: fc.constant('scroll' as const), line: fc.nat(80) }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 30 }), async (steps) => {
        const world = createWorld(40);
        await world.loadNext();
        world.list.show(0, 0);
        for (const { kind, line } of steps) {
          if (kind === 'scroll') {
            const page = line % 6;
            while (world.pages.length <= page && world.pages.at(-1)?.next !== null) await world.loadNext();
            world.list.show(page, page);
          } else
            world.change((lines) => {
              const chosen = lines[line % Math.max(1, lines.length)];
              const rest = lines.filter((one) => one !== chosen);
              return kind === 'leave' || chosen === undefined
                ? rest
                : [...rest, { id: chosen.id, at: top(lines) }];
            });
          await world.settle();
          if (kind !== 'scroll') continue;
          expect(isTrue(world, Math.min(line % 6, world.pages.length - 1))).toBe(true);
        }
      }),
      { numRuns: runs(200) },
    );
  });
});
