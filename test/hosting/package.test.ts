/** The contents of the package that `npm pack` makes of the service. test/hosting/package.long.test.ts installs it. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { listPackedFiles, ROOT } from './packed-files.ts';

it('holds the built program and page, documents and files for operators, and nothing else', async () => {
  const files = await listPackedFiles();
  const { bin } = JSON.parse(readFileSync(path.join(ROOT, 'package.json'), 'utf8')) as {
    bin: Record<string, string>;
  };
  for (const program of Object.values(bin)) expect(files).toContain(program);
  for (const name of ['main', 'child', 'sender-worker']) expect(files).toContain(`dist/bundle/${name}.js`);
  expect(files).toContain('page/dist/index.html');
  expect(files).toContain('ops/systemd/email-worker.service');
  const expected = [
    /^(?:package\.json|README\.md|LICENSE|CHANGELOG\.md|SECURITY\.md)$/,
    /^dist\/bundle\/[\w-]+\.js(?:\.map)?$/,
    /^page\/dist\/(?:assets\/)?[\w-]+(?:\.[\w-]+)*\.(?:html|svg|css|js|woff2)(?:\.br|\.gz)?$/,
    /^docs\/(?:[\w-]+\.(?:md|json|sql)|(?:api|hosting|decisions)\/[\w-]+\.md|benchmarks\/[\w-]+\.svg|images\/[\w-]+\.png)$/,
    /^ops\/[\w-]+\/[\w.-]+$/,
  ];
  expect(files.filter((file) => !expected.some((pattern) => pattern.test(file)))).toEqual([]);
});

it('has no document that links to one that it lacks, but for how the service is made', async () => {
  const files = new Set(await listPackedFiles());
  const missing = [...files]
    .filter((file) => /^(?:docs\/.*|[^/]*)\.md$/.test(file))
    .flatMap((file) =>
      [...readFileSync(path.join(ROOT, file), 'utf8').matchAll(/\]\((?!https?:)([^)#:]+)/g)].map(
        ([, target = '']) => path.join(path.dirname(file), target),
      ),
    )
    .filter((target) => target.startsWith('docs/') && !files.has(target));
  expect(missing).toEqual([]);
});
