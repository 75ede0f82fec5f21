/** Processes that belong to a folder: it is named in their command line, or in the environment they were started with. Linux only. */
import { readdirSync, readFileSync } from 'node:fs';

/** `pid command`, without zombies and this process. */
export function processesOf(folder: string): readonly string[] {
  return readdirSync('/proc').flatMap((pid): readonly string[] => {
    if (!/^\d+$/.test(pid) || pid === String(process.pid)) return [];
    try {
      const command = readFileSync(`/proc/${pid}/cmdline`, 'latin1').replaceAll('\0', ' ');
      const environment = readFileSync(`/proc/${pid}/environ`, 'latin1');
      return command !== '' && (command + environment).includes(folder) ? [`${pid} ${command}`] : [];
    } catch {
      return []; // it ended meanwhile
    }
  });
}
