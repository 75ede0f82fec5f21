/** What scripts/bundle.mjs makes of the program. */
import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

it('names the lines of the sources in traces', async () => {
  const program = fileURLToPath(new URL('../../dist/bundle/sender-worker.js', import.meta.url));
  // It fails at once: it wants to be a thread.
  const child = spawn(process.execPath, ['--enable-source-maps', program], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  expect(await text(child.stderr)).toMatch(/\/src\/adapters\/mail-auth\/sender-worker\.ts:\d+:\d+/);
});
