/** Facts that /proc gives about processes that are not our children. Linux only. */
import { readdirSync, readFileSync } from 'node:fs';

interface ProcessRow {
  readonly pid: number;
  readonly parent: number;
  /** The arguments, joined by spaces. */
  readonly command: string;
}

function listProcesses(): readonly ProcessRow[] {
  return readdirSync('/proc').flatMap((name): readonly ProcessRow[] => {
    if (!/^\d+$/.test(name)) return [];
    try {
      const stat = readFileSync(`/proc/${name}/stat`, 'latin1');
      const [state, parent] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
      if (state === 'Z') return [];
      const command = readFileSync(`/proc/${name}/cmdline`, 'latin1').replaceAll('\0', ' ').trim();
      return [{ pid: Number(name), parent: Number(parent), command }];
    } catch {
      return []; // it ended meanwhile
    }
  });
}

export function listChildren(pid: number): readonly ProcessRow[] {
  return listProcesses().filter((row) => row.parent === pid);
}

/** Processes whose command line contains this text. */
export function findByCommand(text: string): readonly ProcessRow[] {
  return listProcesses().filter((row) => row.command.includes(text) && row.pid !== process.pid);
}

/** Memory in use, in bytes; 0 when the process is gone. */
export function residentBytes(pid: number): number {
  try {
    const kilobytes = /^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
    return Number(kilobytes ?? 0) * 1024;
  } catch {
    return 0;
  }
}

/** False when the process is gone. */
export function sendSignal(pid: number, signal: NodeJS.Signals): boolean {
  try {
    return process.kill(pid, signal);
  } catch {
    return false;
  }
}
