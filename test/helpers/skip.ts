/** Tests that need programs of the system: they are skipped without these programs, but never in CI. */
import { accessSync, constants } from 'node:fs';
import path from 'node:path';

/**
 * For `describe.skipIf`: true if there is a reason to skip, after printing it. With REQUIRE_E2E=1 a reason is an error instead, so that CI
 * can't skip by accident.
 */
export function skipFor(tests: string, reason: string | null): boolean {
  if (reason === null) return false;
  if (process.env['REQUIRE_E2E'] === '1') throw new Error(`REQUIRE_E2E=1, but ${reason}`);
  process.stderr.write(`skipped: ${tests}: ${reason}\n`);
  return true;
}

/** The same if one of these programs is missing. Each is a path, or a name to find in PATH. */
export const skipWithout = (tests: string, ...programs: readonly string[]): boolean =>
  skipFor(tests, whyMissing(programs));

/** Advice for the first missing program; null if none is missing. */
export function whyMissing(programs: readonly string[]): string | null {
  const missing = programs.find((program) => !isInstalled(program));
  return missing === undefined ? null : `${missing} is missing: run .ci/install-servers.sh`;
}

function isInstalled(program: string): boolean {
  const folders = program.startsWith('/') ? [''] : (process.env['PATH'] ?? '').split(path.delimiter);
  return folders.some((folder) => {
    try {
      accessSync(path.join(folder, program), constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}
