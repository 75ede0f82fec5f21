/** The command line that started the program, so that hints show one that works. */
import path from 'node:path';

/** The variables that npm sets for the programs it runs. */
export interface NpmVariables {
  readonly npm_lifecycle_event?: string | undefined;
  readonly npm_package_name?: string | undefined;
}

/** The command when installed, or when that is not known; also the program's name in messages. */
export const PROGRAM = 'email-worker';

/**
 * The words before a command and its arguments: `email-worker` installed, `npm run --silent cli --` in a clone, `npx email-worker`, or
 * `node` with the file.
 *
 * @param file the started file, as in `process.argv[1]`
 */
export function formatInvocation(file: string | undefined, npm: NpmVariables, cwd: string): string {
  const { npm_lifecycle_event: script, npm_package_name: packageName } = npm;
  if (packageName === PROGRAM && (script === 'cli' || script === 'start')) return 'npm run --silent cli --';
  if (file === undefined) return PROGRAM;
  if (path.parse(file).name === PROGRAM) return script === 'npx' ? `npx ${PROGRAM}` : PROGRAM;
  const relative = path.relative(cwd, file);
  return `node ${relative.startsWith('..') ? file : relative}`;
}
