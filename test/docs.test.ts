/** Documents that are generated from the code are up to date, and their claims about the tests are true. */
import { execFile } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';

it.each([
  ['docs/openapi.json', 'openapi.mjs'],
  ['docs/api/errors.md', 'errors.mjs'],
  ['docs/configuration.md', 'configuration.mjs'],
  ['docs/cli.md', 'cli.mjs'],
])('%s is what the code says', async (_, script) => {
  const file = fileURLToPath(new URL(`../scripts/${script}`, import.meta.url));
  await expect(promisify(execFile)(process.execPath, [file, '--check'])).resolves.toMatchObject({
    stderr: '',
  });
});

it('the types of clients/typescript are those of docs/openapi.json', async () => {
  // To update it: npm run generate --workspace clients/typescript
  const npm = ['run', 'generate', '--workspace', 'clients/typescript', '--', '--check'];
  const root = fileURLToPath(new URL('../', import.meta.url));
  await expect(promisify(execFile)('npm', npm, { cwd: root })).resolves.toBeDefined();
});

it('docs/architecture.md has the layers that the lint rule holds', () => {
  const text = readFileSync(new URL('../docs/architecture.md', import.meta.url), 'utf8');
  const told = [...text.matchAll(/^\| `(platform|areas)` +\| ((?:[^|]* · )+[^|]*)\|$/gm)].flatMap(
    ([, floor = '', row = '']) => {
      const layers = row
        .split(' · ')
        .map((layer) => [...layer.matchAll(/`([\w/-]+)`/g)].map(([, area]) => area));
      return layers.flatMap((areas, index) =>
        areas.map((area) => [`src/${floor}/${area}`, [area, ...layers.slice(0, index).flat()]]),
      );
    },
  );
  const { forbidden } = createRequire(import.meta.url)('../.dependency-cruiser.cjs') as {
    readonly forbidden: readonly { readonly name: string; readonly to: { readonly pathNot?: string } }[];
  };
  const held = forbidden.flatMap(({ name, to }) => {
    const [, area] = /^areas-import-those-below: (src\/(?:platform|areas)\/.+)$/.exec(name) ?? [];
    return area === undefined ? [] : [[area, /\/\((.+?)\)/.exec(to.pathNot ?? '')?.[1]?.split('|')]];
  });
  expect(Object.fromEntries(told)).toEqual(Object.fromEntries(held));
  expect(told.length).toBeGreaterThan(35);
});

it('docs/architecture.md describes every area', () => {
  const text = readFileSync(new URL('../docs/architecture.md', import.meta.url), 'utf8');
  const end = text.indexOf('Folders form layers');
  const told = new Set(
    [...text.slice(text.indexOf('## Areas'), end).matchAll(/`([\w-]+)`/g)].map(([, area]) => area),
  );
  const areas = readdirSync(new URL('../src/areas/', import.meta.url), { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name);
  expect(areas.length).toBeGreaterThan(25);
  expect(areas.filter((area) => !told.has(area))).toEqual([]);
});

describe('the guides for contributors', () => {
  const ROOT = new URL('../', import.meta.url);
  const SKIPPED = /(?:^|\/)(?:node_modules|dist|\.git)(?:\/|$)/;
  const isSkipped = (path: string) => SKIPPED.test(path.replaceAll('\\', '/'));
  const folders = ['.ci', 'bench', 'clients', 'docs', 'ops', 'page', 'scripts', 'src', 'test'];
  const paths = [
    ...readdirSync(ROOT).map((name) => `/${name}`),
    ...folders.flatMap((folder) =>
      readdirSync(new URL(`${folder}/`, ROOT), { recursive: true, encoding: 'utf8' })
        .filter((path) => !isSkipped(path))
        .map((path) => `/${folder}/${path.replaceAll('\\', '/')}`),
    ),
  ];
  const guides = [
    'CONTRIBUTING.md',
    'docs/architecture.md',
    'docs/concurrency.md',
    'docs/glossary.md',
    'docs/quirks.md',
    'docs/rfcs.md',
    'docs/security.md',
    'docs/upstream.md',
    ...readdirSync(new URL('docs/decisions/', ROOT)).map((name) => `docs/decisions/${name}`),
  ];

  it.each(guides)('%s names files that are there', (guide) => {
    const text = readFileSync(new URL(guide, ROOT), 'utf8');
    const named = [...text.matchAll(/`([\w./-]+\.(?:ts|mjs|cjs|sh|css))`/g)].map(([, path = '']) => path);
    const isThere = (path: string) => paths.some((one) => one.endsWith(`/${path}`));
    expect(named.filter((path) => !path.includes('NNNN') && !isThere(path))).toEqual([]);
  });

  it('CONTRIBUTING.md shows a statement as it stands in the source', () => {
    const text = readFileSync(new URL('CONTRIBUTING.md', ROOT), 'utf8');
    const [, file = '', example = ''] =
      /^## Change a statement$[^]*?`(src\/[\w/-]+\.ts)`:\n\n```ts\n([^]*?)```$/m.exec(text) ?? [];
    const source = readFileSync(new URL(file, ROOT), 'utf8');
    const parts = example.trim().split('\n\n');
    expect(parts).toHaveLength(2);
    for (const part of parts) expect(source).toContain(part);
  });

  it('and each word of the glossary once', () => {
    const text = readFileSync(new URL('docs/glossary.md', ROOT), 'utf8');
    const words = [...text.matchAll(/^\| ([^|]+?) +\|/gm)].map(([, word = '']) => word).slice(2);
    expect(words.length).toBeGreaterThan(60);
    expect(words).toEqual([...new Set(words)].sort((a, b) => (a.toLowerCase() < b.toLowerCase() ? -1 : 1)));
  });
});

describe('docs/security.md', () => {
  const ROOT = new URL('../', import.meta.url);
  const text = readFileSync(new URL('docs/security.md', ROOT), 'utf8');
  const threats = text
    .slice(text.indexOf('## Threats'))
    .split('\n')
    .filter((line) => line.startsWith('|') && !/^\| (?:Threat |-)/.test(line));
  const references = [...text.matchAll(/`([^`]+\.(?:test|contract)\.ts)`(?:: "([^"]+)")?/g)]
    .map(([, file = '', title]) => ({ file, title }))
    // Not this file, which mentions the check.
    .filter(({ file }) => file !== 'test/docs.test.ts');

  it.each(threats)('names a test for the threat: %s', (line) => {
    expect(line).toMatch(/`[^`]+\.ts`: "[^"]+"/);
  });

  it.each(references)('names a test that is there: $file: "$title"', ({ file, title }) => {
    const quoted = [`'${title?.replaceAll("'", "\\'")}'`, `"${title}"`, `\`${title}\``];
    const source = readFileSync(new URL(file, ROOT), 'utf8');
    expect(quoted.some((literal) => source.includes(literal))).toBe(true);
  });

  it('names some for each kind of threat', () => {
    expect(threats.length).toBeGreaterThan(30);
    expect(references.length).toBeGreaterThan(threats.length);
  });
});

describe('docs/concurrency.md', () => {
  const text = readFileSync(new URL('../docs/concurrency.md', import.meta.url), 'utf8');
  const places = [...text.matchAll(/((?:`\w+`(?:, | and | to )?)+) in `([\w/-]+\.ts)`/g)].map(
    ([, names = '', file = '']) => ({ names: [...names.matchAll(/`(\w+)`/g)].map(([, name]) => name), file }),
  );

  it.each(places)('names what stands in $file: $names', ({ names, file }) => {
    const source = readFileSync(new URL(`../src/${file}`, import.meta.url), 'utf8');
    expect(names.filter((name) => !new RegExp(`\\b${name}\\b`).test(source))).toEqual([]);
  });

  it('names every loop', () => {
    const folder = new URL('../src/', import.meta.url);
    const loops = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(
      (file) =>
        file.endsWith('.ts') &&
        !file.includes('.test.') &&
        /\bstartLoop\(\{/.test(readFileSync(new URL(file, folder), 'utf8')),
    );
    expect(loops.length).toBeGreaterThan(15);
    expect(loops.filter((file) => !text.includes(file))).toEqual([]);
  });

  it('names many', () => expect(places.length).toBeGreaterThan(50));
});

describe('the pages', () => {
  const ROOT = new URL('../', import.meta.url);
  const pages = [
    'README.md',
    'CONTRIBUTING.md',
    'SECURITY.md',
    'clients/typescript/README.md',
    ...readdirSync(new URL('docs/', ROOT), { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.md'))
      .map((file) => `docs/${file.replaceAll('\\', '/')}`),
  ];
  const read = (page: string | URL) => readFileSync(new URL(page, ROOT), 'utf8');
  const anchorOf = (heading: string) =>
    heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-');
  const anchorsOf = (text: string) =>
    [...text.matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) => anchorOf(heading));

  it.each(pages)('%s links to files and headings that are there', (page) => {
    const links = [...read(page).matchAll(/\]\(([^)\s]+)\)/g)].map(([, link = '']) => link);
    const broken = links
      .filter((link) => !/^(?:https?|mailto):|^\//.test(link))
      .filter((link) => {
        const url = new URL(link, new URL(page, ROOT));
        const anchor = decodeURIComponent(url.hash.slice(1));
        url.hash = '';
        if (!existsSync(url)) return true;
        return anchor !== '' && url.pathname.endsWith('.md') && !anchorsOf(read(url)).includes(anchor);
      });
    expect(broken).toEqual([]);
  });
});
