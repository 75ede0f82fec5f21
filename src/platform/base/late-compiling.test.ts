import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

it('has a flag that this engine knows, or none: the engine writes of unknown ones to stderr', () => {
  const module = fileURLToPath(new URL('../../../dist/platform/base/late-compiling.js', import.meta.url));
  const code = `const { compileLate } = await import(${JSON.stringify(module)}); compileLate(); console.log('done');`;
  const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', code], {
    encoding: 'utf8',
  });
  expect([stdout.trim(), stderr]).toEqual(['done', '']);
});
