/**
 * A real browser for end-to-end tests: the system's Chromium, without a window. Debian's build that has no windows at all comes first: the
 * same engine for a fifth less processor time.
 */
import { existsSync } from 'node:fs';
import { chromium, type Browser } from 'playwright-core';
import PLACES from './browsers.json' with { type: 'json' };
import { skipFor } from './skip.ts';

/** For `describe.skipIf`; see skip.ts. */
export const skipWithoutChromium = (): boolean =>
  skipFor(
    'end-to-end tests with Chromium',
    findChromium() === null ? `none of ${PLACES.join(', ')} is there: run .ci/install-servers.sh` : null,
  );

/** Without the sandbox, which is not available to root; the tests open only their own pages. */
export async function startChromium(): Promise<Browser> {
  const executablePath = findChromium();
  if (executablePath === null) throw new Error('there is no Chromium');
  return chromium.launch({ executablePath, chromiumSandbox: false });
}

function findChromium(): string | null {
  return PLACES.find((place) => existsSync(place)) ?? null;
}
