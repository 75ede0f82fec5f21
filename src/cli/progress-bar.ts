/**
 * A bar at the bottom of a terminal, with rate and time left. It only rewrites its own line, so that lines printed meanwhile stay above it;
 * libraries go back to a saved position and overwrite those lines.
 */
import type { Output } from './output.ts';

export interface ProgressBar {
  /** Adds to the units that are done. */
  advance(units: number): void;
  /** Removes the bar. */
  stop(): void;
}

export interface ProgressBarOptions {
  readonly output: Output;
  readonly stream: Pick<NodeJS.WriteStream, 'write' | 'columns'>;
  /** The number of units in all. */
  readonly total: number;
  /** The text after the bar, such as counts. */
  readonly text: () => string;
  /** The clock for the rate, in ms. */
  readonly now?: () => number;
}

const REDRAW_AFTER_MS = 200;
const BAR_CHARS = 24;
/** The span over which the rate is measured, in ms: files skipped at the beginning do not predict the rest. */
const RATE_WINDOW_MS = 20_000;
const SAMPLE_AFTER_MS = 500;

export function startProgressBar(options: ProgressBarOptions): ProgressBar {
  const { output, stream, total, text, now = () => performance.now() } = options;
  let done = 0;
  const samples: { readonly at: number; readonly done: number }[] = [{ at: now(), done: 0 }];

  const sample = () => {
    const at = now();
    if (at - (samples.at(-1)?.at ?? 0) >= SAMPLE_AFTER_MS) samples.push({ at, done });
    while (samples.length > 2 && at - (samples[1]?.at ?? at) > RATE_WINDOW_MS) samples.shift();
  };
  const secondsLeft = (): number | null => {
    const [oldest] = samples;
    if (oldest === undefined || done <= oldest.done) return null;
    return ((total - done) * (now() - oldest.at)) / (done - oldest.done) / 1000;
  };
  const clear = () => void stream.write('\r\u001b[K');
  const draw = () => {
    sample();
    const part = total === 0 ? 1 : Math.min(1, done / total);
    const filled = Math.round(part * BAR_CHARS);
    const bar = `[${'#'.repeat(filled)}${'-'.repeat(BAR_CHARS - filled)}] ${Math.floor(part * 100)} %`;
    const line = `${bar}  ${text()}  ${formatTimeLeft(secondsLeft())}`;
    // A line that wraps could not be rewritten.
    stream.write(`\r${line.slice(0, Math.max(0, (stream.columns || 80) - 1))}\u001b[K`);
  };

  output.drawn = { clear, draw };
  draw();
  const timer = setInterval(draw, REDRAW_AFTER_MS);
  return {
    advance: (units) => (done += units),
    stop() {
      clearInterval(timer);
      output.drawn = null;
      clear();
    },
  };
}

function formatTimeLeft(seconds: number | null): string {
  if (seconds === null) return '';
  const whole = Math.ceil(seconds);
  const two = (value: number) => String(value).padStart(2, '0');
  const [hours, minutes] = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60];
  return hours > 0
    ? `${hours}:${two(minutes)}:${two(whole % 60)} left`
    : `${minutes}:${two(whole % 60)} left`;
}
