/**
 * Finds the threads that may contradict their links, among all emails of a database, in little memory: per Message-ID
 * about 35 to 60 bytes and per thread about 45 to 80, whatever the size of the emails. Decisions and customers are not
 * known here, so threads that they concern are found as well. Each thread that is found has to be weighed by
 * link-graph.ts, which decides.
 *
 * Add all Message-IDs first, then all emails in the order of their identifiers, then clusters; then call `suspects`.
 */
import { createHash } from 'node:crypto';
import { madeKnownBy, nodesOf } from './meeting-points.ts';
import { DisjointSets } from './disjoint-sets.ts';
import { grown, KeyTable, type Key } from './key-table.ts';

export interface ScannedIds {
  /** Its own Message-IDs. */
  readonly messageIds: readonly string[];
  /** See meetingKeysOf. */
  readonly meetingKeys: readonly string[];
  /** True if it was composed here. */
  readonly isSend: boolean;
}

export interface ScannedEmail extends ScannedIds {
  readonly accountId: string;
  /** UUID, lower-case. */
  readonly threadId: string;
  readonly links: readonly string[];
  /** The email beside which its sender put it; null for none. */
  readonly anchor: ScannedIds | null;
}

/** A number that is not known yet. */
const NONE = 0xffffffff;

export class ThreadScan {
  readonly #messageIds = new KeyTable();
  readonly #threads = new KeyTable();
  /** Message-ID or meeting point → thread. */
  readonly #owners = new NumberList();
  /** The Message-IDs of meeting points. */
  readonly #bases = new KeyTable();
  /** Meeting point → number of its Message-ID among them. */
  readonly #baseOf = new NumberList();
  /** For each link to a Message-ID that was not known: its number among `bases`, then the thread of the email. */
  readonly #unknown = new NumberList();
  /** Message-IDs and meeting points that links connect. */
  readonly #groups = new DisjointSets();
  /** Threads to be weighed together. */
  readonly #units = new DisjointSets();
  /** Thread → 1 when it must be weighed. */
  readonly #suspects = new NumberList();
  readonly #standInOf: (name: string) => string;

  /**
   * @param standInOf the name that stands for a Message-ID or a meeting point after a deletion; of such a name itself, the same. Either may be
   *   stored and waited for, so both are one here.
   */
  constructor(standInOf: (name: string) => string) {
    this.#standInOf = standInOf;
  }

  /** @param waitsFor of a meeting point: its Message-ID */
  addMessageId(accountId: string, messageId: string, threadId: string, waitsFor: string | null): void {
    const number = this.#messageIds.add(this.#digest(accountId, messageId));
    const [owner, thread] = [this.#owners.get(number), this.#threads.add(parseUuid(threadId))];
    // Its stand-in has a thread as well.
    if (owner !== NONE) this.#suspect(owner, thread);
    this.#owners.set(number, thread);
    if (waitsFor !== null) this.#baseOf.set(number, this.#bases.add(this.#digest(accountId, waitsFor)));
  }

  addEmail({ accountId, threadId, links, anchor, ...email }: ScannedEmail): void {
    const thread = this.#threads.add(parseUuid(threadId));
    const numbersOf = (ids: readonly string[], of: ScannedIds) => this.#numbersOf(accountId, ids, of, thread);
    const [own, ...others] = numbersOf(email.messageIds, email);
    if (own === undefined) return;
    for (const id of [own, ...others]) {
      this.#groups.join(own, id);
      const owner = this.#owners.get(id);
      // A decision may have moved the email away from its Message-ID; or something is wrong.
      if (owner !== thread) this.#suspect(thread, owner);
    }
    const beside = anchor === null ? [] : numbersOf(anchor.messageIds.slice(0, 1), anchor).slice(0, 1);
    for (const link of [...beside, ...numbersOf(links, email)]) this.#groups.join(own, link);
  }

  /** Threads that are kept apart are always weighed, and together: links alone can't show whether they are right. */
  addCluster(threadIds: readonly string[]): void {
    const [first, ...others] = threadIds.map((id) => this.#threads.add(parseUuid(id)));
    if (first === undefined) return;
    this.#suspect(first, first);
    for (const other of others) this.#suspect(first, other);
  }

  /** Lists of threads, each to be weighed as one. */
  suspects(): readonly (readonly string[])[] {
    /** Group → a thread of it; thread → a group of it. */
    const threadOf = new NumberList();
    const groupOf = new NumberList();
    for (let at = 0; at < this.#unknown.size; at += 2) {
      // An email that came later has the Message-ID, and no row says so.
      const known = this.#messageIds.find(this.#bases.keyOf(this.#unknown.get(at)));
      if (known !== null) this.#suspect(this.#unknown.get(at + 1), this.#owners.get(known));
    }
    for (let id = 0; id < this.#messageIds.size; id += 1) {
      const base = this.#baseOf.get(id);
      const known = base === NONE ? null : this.#messageIds.find(this.#bases.keyOf(base));
      if (known !== null) this.#groups.join(id, known);
    }
    for (let id = 0; id < this.#messageIds.size; id += 1) {
      const [group, thread] = [this.#groups.find(id), this.#owners.get(id)];
      if (threadOf.get(group) === NONE) threadOf.set(group, thread);
      else if (threadOf.get(group) !== thread) this.#suspect(thread, threadOf.get(group));
      if (groupOf.get(thread) === NONE) groupOf.set(thread, group);
      else if (groupOf.get(thread) !== group) this.#suspect(thread, thread);
    }
    const units = new Map<number, string[]>();
    for (let thread = 0; thread < this.#threads.size; thread += 1) {
      if (this.#suspects.get(thread) === 1) units.set(this.#units.find(thread), []);
    }
    for (let thread = 0; thread < this.#threads.size; thread += 1) {
      units.get(this.#units.find(thread))?.push(formatUuid(this.#threads.keyOf(thread)));
    }
    return [...units.values()];
  }

  /** What the Message-IDs tie an email to. */
  #numbersOf(
    accountId: string,
    ids: readonly string[],
    email: ScannedIds,
    thread: number,
  ): readonly number[] {
    const borne = new Set(madeKnownBy(email));
    const isKnown = (id: string) =>
      borne.has(id) || this.#messageIds.find(this.#digest(accountId, id)) !== null;
    return ids.flatMap((id) => {
      if (!isKnown(id)) this.#unknown.push(this.#bases.add(this.#digest(accountId, id)), thread);
      return nodesOf(id, email.meetingKeys, isKnown).map((name) => this.#numberOf(accountId, name, thread));
    });
  }

  #numberOf(accountId: string, messageId: string, thread: number): number {
    const key = this.#digest(accountId, messageId);
    const known = this.#messageIds.find(key);
    if (known !== null) return known;
    // The Message-ID belongs to no thread at all: it is assigned to the email's.
    this.#suspect(thread, thread);
    const number = this.#messageIds.add(key);
    this.#owners.set(number, thread);
    return number;
  }

  #digest(accountId: string, name: string): Key {
    return digest(accountId, this.#standInOf(name));
  }

  #suspect(thread: number, other: number): void {
    this.#suspects.set(thread, 1);
    this.#units.join(thread, other);
  }
}

/** Numbers by number, NONE where none was set. */
class NumberList {
  #values = new Uint32Array(1024).fill(NONE);
  /** How many were pushed. */
  size = 0;

  push(...values: readonly number[]): void {
    for (const value of values) {
      this.set(this.size, value);
      this.size += 1;
    }
  }

  get(index: number): number {
    return this.#values[index] ?? NONE;
  }

  set(index: number, value: number): void {
    while (index >= this.#values.length) this.#values = grown(this.#values, NONE);
    this.#values[index] = value;
  }
}

/** 128 bits: among ten million Message-IDs, the chance of a collision is 1 in 10^25. */
function digest(accountId: string, messageId: string): Key {
  return words(createHash('sha256').update(accountId).update('\0').update(messageId).digest());
}

function parseUuid(text: string): Key {
  return words(Buffer.from(text.replaceAll('-', ''), 'hex'));
}

function words(bytes: Buffer): Key {
  return [bytes.readUInt32BE(0), bytes.readUInt32BE(4), bytes.readUInt32BE(8), bytes.readUInt32BE(12)];
}

function formatUuid(key: Key): string {
  const hex = key.map((word) => word.toString(16).padStart(8, '0')).join('');
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}
