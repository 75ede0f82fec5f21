/**
 * Moves a database to another server, which goes on as if nothing had happened: the same emails, queue, claims and
 * events. The old one is marked before its rows are read, and permanently once the new one is whole, so that no service
 * starts on it by mistake. After an interruption, the move is run again with the same target.
 */
import { BackupError } from '../../core/backup/manifest.ts';
import type { BackupSource, LoadResult, RestoreTarget, TargetState } from './backup-ports.ts';
import { refuseOthers } from './restore-backup.ts';

/** The database that is moved. */
export interface MovedDatabase extends BackupSource {
  /** The mark that keeps services from starting on it; null: none. */
  readMark(): Promise<'moving' | 'moved' | 'unfinished_restore' | null>;
  mark(mark: 'moving' | 'moved' | null): Promise<void>;
}

export interface MovePorts {
  readonly source: MovedDatabase;
  readonly sourceState: Pick<RestoreTarget, 'readState' | 'countOthers'>;
  readonly target: RestoreTarget;
  /** Stores the outcomes in the journal; returns how many sends are left there. */
  readonly settleJournal: () => Promise<number>;
}

export interface MoveOptions {
  readonly migrations: readonly string[];
  readonly serviceVersion: string;
  readonly onStep: (text: string) => void;
}

type Filled = Extract<TargetState, { kind: 'filled' }>;

/** Returns null when an interrupted move had in fact finished. Throws BackupError, with nothing changed. */
export async function moveDatabase(ports: MovePorts, options: MoveOptions): Promise<LoadResult | null> {
  const { source, target } = ports;
  const mark = await source.readMark();
  if (mark === 'moved') throw new BackupError('the database was moved away already');
  if (mark === 'unfinished_restore') throw new BackupError('a restore into the database was cut off');
  await refuseOthers(ports.sourceState, 'the database');
  await refuseOthers(target, 'the target');
  const state = await target.readState();
  const goesOn = mark === 'moving';
  if (state.kind === 'filled' && !state.moved && !(goesOn && (await isCopy(ports, state)))) {
    throw new BackupError(`the target holds ${state.emails} emails; a database is moved into an empty one`);
  }
  if (state.kind === 'filled' && state.moved) await requireSame(ports, state);

  if (!goesOn) {
    options.onStep('storing what the journal has');
    const left = await ports.settleJournal();
    if (left > 0) throw new BackupError(`${left} sends in the journal could not be stored; see the log`);
    await source.mark('moving');
  }
  let result: LoadResult | null = null;
  if (state.kind !== 'filled' || state.moved) {
    if (state.kind !== 'filled') await target.markUnfinished();
    options.onStep('copying the database');
    result = await copy(ports, options);
  }
  await source.mark('moved');
  return result;
}

/** Lets services start on the database again, when a move was interrupted and is no longer wanted. */
export async function cancelMove(source: MovedDatabase): Promise<void> {
  const mark = await source.readMark();
  if (mark !== 'moving') throw new BackupError('no move of the database was interrupted');
  await source.mark(null);
}

function copy(
  { source, target }: MovePorts,
  { migrations, serviceVersion }: MoveOptions,
): Promise<LoadResult> {
  return source.withSnapshot(async (snapshot) => {
    if (snapshot.migrations.join() !== migrations.join())
      throw new BackupError('the database is of another version; start the service once, then stop it');
    return await target.load(
      {
        ...snapshot,
        serviceVersion,
        tables: snapshot.tables.map((table) => ({ ...table, rows: null })),
        readTable: (table) => snapshot.readTable(table),
      },
      'keep',
    );
  });
}

/** True if the target is what an interrupted move made of the database, and has not changed since. */
async function isCopy({ sourceState }: MovePorts, state: Filled): Promise<boolean> {
  const here = await sourceState.readState();
  return (
    here.kind === 'filled' &&
    here.databaseId === state.databaseId &&
    here.emails === state.emails &&
    here.eventPosition === state.eventPosition &&
    !state.moving
  );
}

async function requireSame({ sourceState }: MovePorts, state: Filled): Promise<void> {
  const here = await sourceState.readState();
  if (here.kind !== 'filled' || here.databaseId !== state.databaseId)
    throw new BackupError('the target holds another database, which was moved away');
}
