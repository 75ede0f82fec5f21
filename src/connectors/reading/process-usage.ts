/** The resources that another process has used, where the system shows them (Linux, proc(5)). */
import { readFileSync } from 'node:fs';

export interface ProcessUsage {
  /** Of all its threads, since the process began. */
  readonly cpuMs: number;
  /** Resident in memory now. */
  readonly residentBytes: number;
}

/** USER_HZ: the kernel always reports times to programs in hundredths of a second. */
const TICK_MS = 10;

/** null where the system does not show it. Reads two files from the kernel's memory, which takes some 20 µs. */
export function readUsage(pid: number): ProcessUsage | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    const status = readFileSync(`/proc/${pid}/status`, 'latin1');
    // The program's name, in brackets, may hold anything; utime and stime are the 12th and 13th field after it.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const [, resident] = /^VmRSS:\s*(\d+) kB$/m.exec(status) ?? [];
    const cpuMs = (Number(fields[11]) + Number(fields[12])) * TICK_MS;
    if (Number.isNaN(cpuMs) || resident === undefined) return null;
    return { cpuMs, residentBytes: Number(resident) * 1024 };
  } catch {
    // The process ended, the system has no such file, or no file can be opened: other limits remain.
    return null;
  }
}
