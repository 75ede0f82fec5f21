/** DATA_DIR: which process holds it, its disk, and the journal. */
import { randomUUID } from 'node:crypto';
import { open, rm, stat, statfs } from 'node:fs/promises';
import path from 'node:path';
import { LmdbJournal } from '../../connectors/journal/lmdb-journal.ts';
import { createSpool } from '../../connectors/journal/spool.ts';
import type { Logger } from '../../platform/base/basics.ts';
import type { Config } from '../../config/config.ts';
import { formatSeconds } from '../../core/durations.ts';
import { formatBytes, formatCount } from '../api/format.ts';
import { ok, problem, warning, type Check, type Finding } from '../../service/finding.ts';
import type { PatientData } from './patient-data.ts';

const GB = 1_000_000_000;
/**
 * Free room in bytes, and the number of files that can still be made. Below `problem` mail is soon refused; below `warning` that point is
 * near.
 */
const ROOM = { problem: GB / 5, warning: 2 * GB } as const;
const INODES = { problem: 1000, warning: 20_000 } as const;

export function checkDataFolder(config: Config, { dataDir }: PatientData): Check {
  return {
    area: 'data folder',
    name: 'DATA_DIR',
    async run() {
      const folder = config.dataDir;
      if (dataDir.kind === 'missing') {
        return [
          warning(
            `${folder} is not there`,
            'The service makes it at its first start; if it has run before, correct DATA_DIR.',
          ),
          ...(await ofPlace(folder)),
        ];
      }
      if (dataDir.kind === 'unusable') {
        return [problem(dataDir.reason, 'Correct DATA_DIR, or run the doctor as the user of the service.')];
      }
      return [ofHolder(dataDir), await ofWriting(folder), ...(await ofDisk(folder))];
    },
  };
}

/** The place where the first start is to make DATA_DIR: the nearest folder above it that exists. Only faults are reported. */
async function ofPlace(folder: string): Promise<readonly Finding[]> {
  const above = path.dirname(folder);
  const kind = await stat(above).then(
    (found) => (found.isDirectory() ? 'folder' : 'file'),
    (error: unknown) => (isMissing(error) && above !== folder ? 'missing' : 'closed'),
  );
  if (kind === 'missing') return await ofPlace(above);
  const fault = kind === 'folder' ? await faultOfWriting(above) : `${above} is no folder that can be entered`;
  const disk = kind === 'folder' ? (await ofDisk(above)).filter(({ grade }) => grade !== 'ok') : [];
  return fault === null ? disk : [problem(`DATA_DIR can't be made in ${above}: ${fault}`, WRITABLE), ...disk];
}

const isMissing = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && error.code === 'ENOENT';

const WRITABLE =
  'Free disk space, make the user of the service the owner of the folder, or mount it for writing.';

function ofHolder(dataDir: PatientData['dataDir']): Finding {
  if (dataDir.kind === 'held') {
    return ok(dataDir.holder === null ? 'a service has DATA_DIR' : `process ${dataDir.holder} has DATA_DIR`);
  }
  return warning('no service runs on DATA_DIR', 'Start it: mail is neither sent nor received.');
}

async function ofWriting(folder: string): Promise<Finding> {
  const fault = await faultOfWriting(folder);
  return fault === null
    ? ok(`${folder} can be written`)
    : problem(`DATA_DIR can't be written: ${fault}`, WRITABLE);
}

/** null: a file can be written in the folder. */
async function faultOfWriting(folder: string): Promise<string | null> {
  const probe = path.join(folder, `.doctor-${randomUUID()}`);
  try {
    const file = await open(probe, 'wx', 0o600);
    try {
      await file.writeFile('.');
      await file.sync();
    } finally {
      await file.close();
      await rm(probe, { force: true });
    }
    return null;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

async function ofDisk(folder: string): Promise<readonly Finding[]> {
  const { bavail, bsize, files, ffree } = await statfs(folder);
  const free = bavail * bsize;
  const room = `${formatBytes(free)} are free on the disk of DATA_DIR`;
  const advice = 'Free disk space, or move DATA_DIR to a larger disk: on a full disk no mail is accepted.';
  const findings = [
    free < ROOM.problem ? problem(room, advice) : free < ROOM.warning ? warning(room, advice) : ok(room),
  ];
  // Some file systems allow as many files as fit, and report 0.
  if (files > 0 && ffree < INODES.warning) {
    const text = `only ${ffree} more files can be made on the disk of DATA_DIR`;
    const inodes = 'Delete small files, or use a file system with more inodes.';
    findings.push(ffree < INODES.problem ? problem(text, inodes) : warning(text, inodes));
  }
  return findings;
}

/** Mail that was handed to a mail server and is not yet in the database. */
export function checkJournal(config: Config, data: PatientData, logger: Logger): Check {
  return {
    area: 'work',
    name: 'the journal',
    async run(signal) {
      if (data.dataDir.kind === 'held') return await ofRunningService(config, signal);
      const folder = path.join(config.dataDir, 'journal');
      // Opening a journal creates it.
      const isThere = (await stat(path.join(folder, 'entries', 'data.mdb')).catch(() => null)) !== null;
      if (data.dataDir.kind !== 'free' || !isThere) return [];
      const spool = createSpool(path.join(config.dataDir, 'spool'));
      const journal = await LmdbJournal.open({ folder, spool, logger });
      try {
        const madeAt = [...journal.keys()].map(({ emailId }) => timeOf(emailId));
        if (madeAt.length === 0) return [ok('the journal is empty')];
        const age = formatSeconds((Date.now() - Math.min(...madeAt)) / 1000);
        return [
          warning(
            `the database lacks ${formatCount(madeAt.length, 'send')} of the journal, the oldest for ${age}`,
            'Start the service: it records them.',
          ),
        ];
      } finally {
        await journal.close();
      }
    },
  };
}

/** Only its own process may open a journal; the metrics of that process report the number of entries. */
async function ofRunningService({ metricsListen }: Config, signal: AbortSignal): Promise<readonly Finding[]> {
  if (metricsListen === null) return [];
  const { host, port } = metricsListen;
  const reached = host === '0.0.0.0' || host === '::' ? 'localhost' : host.includes(':') ? `[${host}]` : host;
  const response = await fetch(`http://${reached}:${port}/metrics`, { signal });
  const entries = Number(/^email_worker_journal_entries (\d+)/m.exec(await response.text())?.[1] ?? 0);
  if (entries === 0) return [ok('the journal is empty')];
  return [
    warning(
      `the journal has ${formatCount(entries, 'send')} that the database lacks`,
      'A few are usual under load; if they stay, check the log for database errors.',
    ),
  ];
}

/** RFC 9562 §5.7: the first 48 bits of a UUID of version 7, in ms. */
const timeOf = (id: string): number => Number.parseInt(id.replaceAll('-', '').slice(0, 12), 16);
