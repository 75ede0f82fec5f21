/** The browser of benchmarks and pictures: the first that is there of those that tests take. */
import { existsSync, readFileSync } from 'node:fs';
import { chromium } from 'playwright-core';

const PLACES = JSON.parse(readFileSync(new URL('../test/helpers/browsers.json', import.meta.url), 'utf8'));

/** Without the sandbox, which is not available to root. */
export const startBrowser = () =>
  chromium.launch({ executablePath: PLACES.find((place) => existsSync(place)), chromiumSandbox: false });
