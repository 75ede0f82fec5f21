/** A part of the composition root: finds the programs that the service runs beside itself. */
import { fileURLToPath } from 'node:url';

/**
 * Works from `dist/service/` and from `dist/bundle/` alike. Node 20 can't run TypeScript: where the sources run, as in
 * tests, the built programs run beside them.
 */
const FOLDER = import.meta.url.endsWith('.ts') ? '../../dist/bundle/' : '../bundle/';

/** The path of a program of scripts/bundle.mjs. */
export function findProgram(name: string): string {
  return fileURLToPath(new URL(FOLDER + name, import.meta.url));
}
