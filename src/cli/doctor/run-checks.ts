/** Runs the checks side by side, each for a limited time. */
import { formatError } from '../../core/causes.ts';
import { problem, type Area, type Check, type Finding } from '../../service/finding.ts';

/** More than any server takes that answers at all, in ms. */
const CHECK_MS = 20_000;

export interface AreaFinding extends Finding {
  readonly area: Area;
}

/**
 * In the order of the checks. A check that throws or does not end is reported as a problem like any other.
 *
 * @param signal ends all of them
 * @param checkMs default: 20 s
 */
export async function runChecks(
  checks: readonly Check[],
  signal: AbortSignal,
  checkMs = CHECK_MS,
): Promise<readonly AreaFinding[]> {
  const found = await Promise.all(
    checks.map(async (check) => {
      const findings = await bounded(check, signal, checkMs);
      return findings.map((finding) => ({ ...finding, area: check.area }));
    }),
  );
  return found.flat();
}

async function bounded(
  { name, run }: Check,
  signal: AbortSignal,
  checkMs: number,
): Promise<readonly Finding[]> {
  const late = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  const deadline = new Promise<readonly Finding[]>((resolve) => {
    timer = setTimeout(() => {
      const advice =
        'Check whether it is reachable from this machine, and whether its disk or network hangs.';
      resolve([problem(`${name}: no answer within ${Math.ceil(checkMs / 1000)} s`, advice)]);
      late.abort();
    }, checkMs);
  });
  try {
    const work = run(AbortSignal.any([signal, late.signal])).catch((error: unknown) => [
      problem(
        `${name}: ${formatError(error)}`,
        'Correct the cause in the message, and run the doctor again.',
      ),
    ]);
    return await Promise.race([work, deadline]);
  } finally {
    clearTimeout(timer);
  }
}
