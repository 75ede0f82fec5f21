/**
 * Gives processes little of the machine: each may run for a moment and is then stopped for longer, again and again, sometimes for longer
 * than a lease. Works without privileges and the same on every machine, unlike priorities and cgroups. A process of its own, so that its
 * rhythm does not depend on how busy the harness is.
 *
 * The parent sends the processes by IPC: `{ order, pids }`; the list replaces the previous one, and the number of the order is the answer.
 * Processes that are not on the list run on, as does everything when the parent is gone. Argument: a seed.
 */
const RUN_MS = { min: 8, max: 40 };
const STOP_MS = { min: 20, max: 120 };
const LONG_STOP_MS = { min: 250, max: 900 };
const LONG_STOP_SHARE = 0.04;

let state = Number(process.argv[2]) >>> 0;
/** mulberry32, as in random.ts */
const next = () => {
  state = (state + 0x6d2b79f5) | 0;
  let value = Math.imul(state ^ (state >>> 15), 1 | state);
  value = (value + Math.imul(value ^ (value >>> 7), 61 | value)) ^ value;
  return ((value ^ (value >>> 14)) >>> 0) / 2 ** 32;
};
const between = ({ min, max }) => min + Math.floor(next() * (max - min + 1));

/** pid → the timer of its next change */
const rhythms = new Map();

function signal(pid, name) {
  try {
    process.kill(pid, name);
  } catch {
    // The process ended; the parent removes it from the list.
  }
}

function run(pid) {
  signal(pid, 'SIGCONT');
  rhythms.set(
    pid,
    setTimeout(() => stop(pid), between(RUN_MS)),
  );
}

function stop(pid) {
  signal(pid, 'SIGSTOP');
  const stopMs = between(next() < LONG_STOP_SHARE ? LONG_STOP_MS : STOP_MS);
  rhythms.set(
    pid,
    setTimeout(() => run(pid), stopMs),
  );
}

function release(pid) {
  clearTimeout(rhythms.get(pid));
  rhythms.delete(pid);
  signal(pid, 'SIGCONT');
}

process.on('message', ({ order, pids }) => {
  for (const pid of rhythms.keys()) if (!pids.includes(pid)) release(pid);
  for (const pid of pids) if (!rhythms.has(pid)) run(pid);
  process.send(order);
});
process.on('disconnect', () => {
  for (const pid of rhythms.keys()) release(pid);
});
