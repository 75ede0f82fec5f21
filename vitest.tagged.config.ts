import { readdirSync, readFileSync } from 'node:fs';
import { defineConfig } from 'vitest/config';
import { shared } from './vitest.config.ts';

const hasLongTests = (file: string): boolean =>
  file.endsWith('.test.ts') && readFileSync(file, 'utf8').includes("tags: ['long']");

/** A part of `npm run test:long`: the tests that `npm test` leaves out of files that it runs. */
export default defineConfig({
  test: {
    ...shared,
    isolate: false,
    include: ['src', 'test'].flatMap((folder) =>
      readdirSync(folder, { recursive: true, encoding: 'utf8' })
        .map((file) => `${folder}/${file}`)
        .filter(hasLongTests),
    ),
  },
});
