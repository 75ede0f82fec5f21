/** The bundle that scripts/bundle.mjs makes of the program. */
import { spawn } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

it('names the lines of the sources in traces', async () => {
  const program = fileURLToPath(new URL('../../dist/bundle/sender-worker.js', import.meta.url));
  // It fails at once: it must run as a thread.
  const child = spawn(process.execPath, [program], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  expect(await text(child.stderr)).toMatch(/\/src\/connectors\/mail-auth\/sender-worker\.ts:\d+:\d+/);
});

const FOLDER = fileURLToPath(new URL('../../dist/bundle', import.meta.url));

/** The packages that are loaded with a file, whatever the configuration. */
function packagesOf(file: string, seen = new Set<string>()): readonly string[] {
  if (seen.has(file)) return [];
  seen.add(file);
  const code = readFileSync(path.join(FOLDER, file), 'utf8');
  const imported = [...code.matchAll(/^(?:import|export|\}) ?(?:[^'"\n]*? from )?"([^"]+)";$/gm)].map(
    ([, name = '']) => name,
  );
  return imported.flatMap((name) => (name.startsWith('./') ? packagesOf(name.slice(2), seen) : [name]));
}

it('loads what only some services need when they do', () => {
  const service = readdirSync(FOLDER).find((file) => /^service-\w+\.js$/.test(file));
  const packages = packagesOf(service ?? '');
  expect(packages).toContain('fastify');
  expect(
    packages.filter((name) =>
      /^@opentelemetry|^prom-client|^smtp-server|^@aws-sdk|^mailauth|^@fastify\/static|^glob/.test(name),
    ),
  ).toEqual([]);
});
