/** The files that a build of the page delivers to a browser. */
import { execFile } from 'node:child_process';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeTempFolder, type TempFolder } from '../helpers/temp-folder.ts';

const PAGE = fileURLToPath(new URL('../../page', import.meta.url));
/** A phone on a slow connection loads it within seconds. */
const MAX_FIRST_SCRIPT_BYTES = 250_000;

describe('the built page', () => {
  let temporary: TempFolder;
  let folder: string;
  let html: string;
  beforeAll(async () => {
    temporary = await makeTempFolder();
    folder = temporary.path;
    const run = promisify(execFile);
    const vite = fileURLToPath(new URL('../../node_modules/vite/bin/vite.js', import.meta.url));
    await run(process.execPath, [vite, 'build', '--outDir', folder, '--emptyOutDir'], {
      cwd: PAGE,
      // Vitest's own value would select React's development build.
      env: { ...process.env, NODE_ENV: 'production' },
    });
    await run(process.execPath, [path.join(PAGE, 'build/compress.mjs'), folder]);
    html = readFileSync(path.join(folder, 'index.html'), 'utf8');
  });
  afterAll(() => temporary.remove());

  const named = (pattern: RegExp): string[] =>
    [...html.matchAll(pattern)].map(([, address]) => path.join(folder, address ?? ''));

  it('has no more than 250 kB of compressed script for the first view', () => {
    const scripts = named(/(?:src|href)="([^"]+\.js)"/g);
    expect(scripts).not.toEqual([]);
    const total = scripts.reduce((sum, file) => sum + statSync(`${file}.gz`).size, 0);
    expect(total).toBeLessThan(MAX_FIRST_SCRIPT_BYTES);
  });

  it('names its files by their content, with a compressed copy of each that gets smaller', () => {
    const assets = readdirSync(path.join(folder, 'assets'));
    for (const name of assets) expect(name).toMatch(/-[\w-]{8}\.(js|css)(\.br|\.gz)?$/);
    const scripts = assets.filter((name) => /\.(js|css)$/.test(name));
    expect(assets).toEqual(expect.arrayContaining(scripts.flatMap((name) => [`${name}.br`, `${name}.gz`])));
  });

  it('has no script or style in the document itself, so that a strict policy can refuse them', () => {
    expect(html).not.toMatch(/<script(?![^>]*\bsrc=)/);
    expect(html).not.toMatch(/<style|\sstyle=|\son\w+=/);
  });
});
