/** CPU time of processes, from Linux's /proc: a busy machine changes it less than it changes elapsed time. */
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import pg from 'pg';

const MS_PER_TICK = 10;

function readStat(pid) {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1).split(' ');
    const [own, ended] = [fields.slice(11, 13), fields.slice(13, 15)].map((ticks) =>
      ticks.reduce((sum, value) => sum + Number(value) * MS_PER_TICK, 0),
    );
    return { parent: Number(fields[1]), own, ended };
  } catch {
    // The process has ended; its parent counts its time.
    return null;
  }
}

/** CPU time of a process and all its children so far, including those that have ended; in ms. */
export function cpuOfTree(root) {
  const all = new Map();
  for (const name of readdirSync('/proc').filter((entry) => /^\d+$/.test(entry))) {
    const stat = readStat(name);
    if (stat !== null) all.set(Number(name), stat);
  }
  const cpuOf = (pid) => {
    const stat = all.get(pid);
    if (stat === undefined) return 0;
    const children = [...all].filter(([, { parent }]) => parent === pid).map(([child]) => child);
    return stat.own + stat.ended + children.reduce((sum, child) => sum + cpuOf(child), 0);
  };
  return cpuOf(root);
}

/** True when a process is a direct or indirect child of another one. */
function isDescendant(pid, ancestor) {
  for (let at = pid; at > 1; at = readStat(at)?.parent ?? 0) if (at === ancestor) return true;
  return false;
}

/** CPU time of a process so far, including its ended children, in ms. */
export function cpuOf(pid) {
  const stat = readStat(pid);
  return stat === null ? 0 : stat.own + stat.ended;
}

/** CPU time so far of a service and of its embedded server, each with its children, in ms. */
export function serviceCpu({ pid, dataDir }) {
  const postmaster = postmasterOf(dataDir);
  const database = cpuOfTree(postmaster);
  // The server, or the service itself, may have another parent.
  return { node: cpuOfTree(pid) - (isDescendant(postmaster, pid) ? database : 0), database };
}

/** CPU time of this process's ended children, in ms. */
export const cpuOfEndedChildren = () => readStat(process.pid).ended;

/** The process id of the embedded server of a data folder. */
export const postmasterOf = (dataDir) => pidIn(path.join(dataDir, 'postgres/data'));

/** The process id of the local server that a URL names; its role must be allowed to see data_directory. */
export async function postmasterAt(url) {
  const client = new pg.Client(url);
  await client.connect();
  const { rows } = await client.query('show data_directory');
  await client.end();
  return pidIn(rows[0].data_directory);
}

const pidIn = (folder) => Number(readFileSync(path.join(folder, 'postmaster.pid'), 'utf8').split('\n')[0]);

/** CPU time so far of the embedded server of a data folder, with all its processes, in ms. */
export const databaseCpu = (dataDir) => cpuOfTree(postmasterOf(dataDir));
