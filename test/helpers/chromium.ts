/** A real browser for end-to-end tests: Chromium of the system, without a window. */
import { accessSync } from 'node:fs';
import { chromium, type Browser } from 'playwright-core';

const PLACES = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];

/**
 * For `describe.skipIf`: true when there is none, after saying why. With REQUIRE_E2E=1 that is an error instead, so
 * that CI can't skip by accident.
 */
export function skipWithoutChromium(): boolean {
  if (findChromium() !== null) return false;
  const reason = `none of ${PLACES.join(', ')} is there: run .ci/install-servers.sh`;
  if (process.env.REQUIRE_E2E === '1') throw new Error(`REQUIRE_E2E=1, but ${reason}`);
  process.stderr.write(`skipped: end-to-end tests with Chromium: ${reason}\n`);
  return true;
}

/** Without the sandbox, which root can't have; the tests open nothing but pages of their own. */
export async function startChromium(): Promise<Browser> {
  const executablePath = findChromium();
  if (executablePath === null) throw new Error('there is no Chromium');
  return chromium.launch({ executablePath, chromiumSandbox: false });
}

function findChromium(): string | null {
  const isThere = (file: string): boolean => {
    try {
      accessSync(file);
      return true;
    } catch {
      return false;
    }
  };
  return PLACES.find(isThere) ?? null;
}
