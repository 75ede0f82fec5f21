/** How the program was called, so that hints show a command line that works. */
import path from 'node:path';

/** As npm tells them to what it runs. */
export interface NpmVariables {
  readonly npm_lifecycle_event?: string | undefined;
  readonly npm_package_name?: string | undefined;
}

/** Installed, or where that can't be told; also what the program calls itself in messages. */
export const PROGRAM = 'email-worker';

/**
 * What stands before a command and its arguments: `email-worker` installed, `npm run --silent cli --` in a clone,
 * `npx email-worker`, or `node` with the file.
 *
 * @param file that was started, as `process.argv[1]` has it
 */
export function formatInvocation(file: string | undefined, npm: NpmVariables, cwd: string): string {
  const { npm_lifecycle_event: script, npm_package_name: packageName } = npm;
  if (packageName === PROGRAM && (script === 'cli' || script === 'start')) return 'npm run --silent cli --';
  if (file === undefined) return PROGRAM;
  if (path.parse(file).name === PROGRAM) return script === 'npx' ? `npx ${PROGRAM}` : PROGRAM;
  const relative = path.relative(cwd, file);
  return `node ${relative.startsWith('..') ? file : relative}`;
}
