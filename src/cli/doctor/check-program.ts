/** The program and the Node.js that runs it. */
import { readVersion } from '../../config/version.ts';
import { ok, problem, warning, type Check, type Finding } from '../../service/finding.ts';

/** The oldest version that is tested; the same as in package.json. */
const OLDEST_NODE = '20.19.0';
/** The date after which a version gets no more fixes; see github.com/nodejs/Release. */
const ENDS_OF_LIFE: Readonly<Record<number, string>> = {
  20: '2026-04-30',
  22: '2027-04-30',
  24: '2028-04-30',
};
const WHERE_ELSE = 'Use Node.js 24, or the newest version of an even number.';

export function checkProgram(node = process.versions.node, now = new Date()): Check {
  return {
    area: 'program',
    name: 'versions',
    async run() {
      return [ok(`email-worker ${readVersion()}`), ofNode(node, now)];
    },
  };
}

function ofNode(version: string, now: Date): Finding {
  const text = `Node.js ${version}`;
  if (version.localeCompare(OLDEST_NODE, 'en', { numeric: true }) < 0) {
    return problem(`${text} is too old`, `Node.js ${OLDEST_NODE} or later is needed. ${WHERE_ELSE}`);
  }
  const major = Number.parseInt(version, 10);
  const end = ENDS_OF_LIFE[major];
  if (end !== undefined && now >= new Date(end)) {
    return warning(`${text} gets no security fixes since ${end}`, WHERE_ELSE);
  }
  if (major % 2 === 1)
    return warning(`${text} is a version that gets fixes for half a year only`, WHERE_ELSE);
  return ok(text);
}
