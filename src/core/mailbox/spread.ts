/**
 * Assigns to each account the process that reads its mailboxes: evenly, and with few reassignments.
 *
 * The accounts with the processes that can read them are a bipartite graph, and an even spread is an optimal semi-matching:
 * it is reached when no account can be passed on, through any number of processes, from one process to another with at
 * least two fewer (Harvey, Ladner, Lovász, Tamir: Semi-matchings for bipartite graphs and load balancing, 2006). Where all
 * processes can read all accounts, no two differ by more than one account, and no more accounts than necessary change hands.
 *
 * Every process comes to the same result from the same state, so none has to lead.
 */

/** A process that reads mailboxes. */
export interface Reader {
  readonly id: string;
  /** The accounts that it is configured to read. */
  readonly accountIds: ReadonlySet<string>;
}

/** Accounts that the same processes can read: they are interchangeable. */
interface Group {
  readonly able: readonly string[];
  /** Reader → accounts; the last is passed on first. */
  readonly shares: ReadonlyMap<string, string[]>;
}

/** One account of the group goes from one reader to another. */
interface Step {
  readonly group: Group;
  readonly from: string;
  readonly to: string;
}

/**
 * @param readers the live ones
 * @param holders each account with the reader that has it now; null: none
 * @returns each account with the reader that is to have it. Left out are accounts that no reader can read, and accounts
 * held by a process that is not among the readers that can.
 */
export function spreadAccounts(
  readers: readonly Reader[],
  holders: ReadonlyMap<string, string | null>,
): ReadonlyMap<string, string> {
  const ordered = readers.toSorted((a, b) => compare(a.id, b.id));
  const loads = new Map(ordered.map(({ id }) => [id, 0]));
  const groups = new Map<string, Group>();
  const free: { readonly accountId: string; readonly group: Group }[] = [];
  for (const [accountId, holder] of [...holders].toSorted(([a], [b]) => compare(a, b))) {
    const able = ordered.filter(({ accountIds }) => accountIds.has(accountId)).map(({ id }) => id);
    if (able.length === 0 || (holder !== null && !able.includes(holder))) continue;
    const group = groups.get(able.join(' ')) ?? { able, shares: new Map(able.map((id) => [id, []])) };
    groups.set(able.join(' '), group);
    if (holder === null) free.push({ accountId, group });
    else give(accountId, group, holder, loads);
  }
  // After the held accounts, so that these are the first to be passed on when a process has too many.
  for (const { accountId, group } of free) give(accountId, group, leastLoaded(group.able, loads), loads);

  const all = [...groups.values()];
  for (let steps = findSteps(all, loads); steps !== null; steps = findSteps(all, loads)) {
    for (const { group, from, to } of steps) {
      const accountId = group.shares.get(from)?.pop();
      if (accountId === undefined) throw new Error('a reader without an account is to pass one on');
      loads.set(from, loadOf(from, loads) - 1);
      give(accountId, group, to, loads);
    }
  }
  return new Map(
    all.flatMap(({ shares }) =>
      [...shares].flatMap(([reader, accountIds]) =>
        accountIds.map((accountId): [string, string] => [accountId, reader]),
      ),
    ),
  );
}

type Loads = Map<string, number>;

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
const loadOf = (reader: string, loads: ReadonlyMap<string, number>): number => loads.get(reader) ?? 0;

function give(accountId: string, group: Group, reader: string, loads: Loads): void {
  group.shares.get(reader)?.push(accountId);
  loads.set(reader, loadOf(reader, loads) + 1);
}

/** The first of the readers with the fewest accounts. */
function leastLoaded(readers: readonly string[], loads: Loads): string {
  return readers.reduce((least, one) => (loadOf(one, loads) < loadOf(least, loads) ? one : least));
}

/** The steps from the fullest reader that can pass an account on to one with at least two fewer; null: none can. */
function findSteps(groups: readonly Group[], loads: Loads): readonly Step[] | null {
  const sources = [...loads.keys()].toSorted((a, b) => loadOf(b, loads) - loadOf(a, loads));
  for (const source of sources) {
    const reached = reach(source, groups);
    const target = leastLoaded([source, ...reached.keys()], loads);
    if (loadOf(source, loads) - loadOf(target, loads) < 2) continue;
    const steps: Step[] = [];
    for (let at = target; at !== source;) {
      const step = reached.get(at);
      if (step === undefined) throw new Error('the way to a reader has a gap');
      steps.push(step);
      at = step.from;
    }
    return steps;
  }
  return null;
}

/** Every other reader that accounts can reach from `source`, with the last step to it, on the shortest way. */
function reach(source: string, groups: readonly Group[]): ReadonlyMap<string, Step> {
  const reached = new Map<string, Step>();
  const queue = [source];
  for (const from of queue) {
    for (const group of groups) {
      if ((group.shares.get(from)?.length ?? 0) === 0) continue;
      for (const to of group.able) {
        if (to === source || reached.has(to)) continue;
        reached.set(to, { group, from, to });
        queue.push(to);
      }
    }
  }
  return reached;
}
