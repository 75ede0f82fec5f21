/**
 * Loaded into a service before it starts (`NODE_OPTIONS=--import …`): measures the longest time that its event loop was blocked. Prints one
 * line on SIGUSR2, and begins again.
 *
 * A stretch counts as the smaller of its time by the clock and its processor time: a busy machine has its own pauses.
 */
const LOOK_MS = 2;

let longestMs = 0;
let lastTime = performance.now();
let lastUsage = process.cpuUsage();

const look = () => {
  const now = performance.now();
  const usage = process.cpuUsage();
  const cpuMs = (usage.user + usage.system - lastUsage.user - lastUsage.system) / 1000;
  longestMs = Math.max(longestMs, Math.min(now - lastTime, cpuMs));
  lastTime = now;
  lastUsage = usage;
};
setInterval(look, LOOK_MS).unref();

process.on('SIGUSR2', () => {
  look();
  process.stderr.write(`longest turn: ${longestMs.toFixed(1)} ms\n`);
  longestMs = 0;
});
