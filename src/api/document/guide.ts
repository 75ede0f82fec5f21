/** The pages of docs/ as HTML: `docs/api/sending.md` is `sending`, `docs/hosting/aws.md` is `hosting/aws`. Each is rendered when first asked for. */
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { escapeUTF8 } from 'entities';

export interface Guide {
  /** The HTML of a page; null when there is no such page. */
  page(name: string): Promise<string | null>;
}

export const GUIDE_STYLE = `:root { color-scheme: light dark; font: 16px/1.55 system-ui, sans-serif; }
body { max-width: 52rem; margin: 2rem auto; padding: 0 1rem; overflow-wrap: break-word; }
pre, code { font: 0.875em/1.5 ui-monospace, monospace; background: color-mix(in srgb, currentColor 8%, transparent); border-radius: 0.25rem; }
code { padding: 0.1em 0.3em; }
pre { padding: 0.75rem 1rem; overflow-x: auto; }
pre code { padding: 0; background: none; font-size: 1em; }
table { display: block; overflow-x: auto; border-collapse: collapse; }
th, td { padding: 0.35rem 0.6rem; border: 1px solid color-mix(in srgb, currentColor 25%, transparent); text-align: left; vertical-align: top; }
`;

/** `folder`: the folder `docs`; null: no page. `root`: the path below which the pages are served. */
export function createGuide(folder: string | null, root: string): Guide {
  let files: Promise<ReadonlyMap<string, string>> | undefined;
  const rendered = new Map<string, string>();
  return {
    page: async (name) => {
      if (folder === null) return null;
      const file = (await (files ??= listPages(folder))).get(name);
      if (file === undefined) return null;
      const known = rendered.get(name);
      if (known !== undefined) return known;
      const html = await renderPage(await readFile(path.join(folder, file), 'utf8'), file, root);
      rendered.set(name, html);
      return html;
    },
  };
}

/** Files by the names of their pages. No path is ever built from a requested name. */
async function listPages(folder: string): Promise<ReadonlyMap<string, string>> {
  const files = (await readdir(folder, { recursive: true })).map((file) => file.replaceAll(path.sep, '/'));
  return new Map(files.filter((file) => file.endsWith('.md')).map((file) => [nameOf(file), file]));
}

const nameOf = (file: string): string =>
  file === 'api/README.md' ? 'guide' : file.replace(/^api\//, '').slice(0, -'.md'.length);

/** Links to other pages lead to these as served; links to anything else in the repository become text. */
async function renderPage(markdown: string, file: string, root: string): Promise<string> {
  const { Marked } = await import('marked');
  const marked = new Marked({
    renderer: {
      heading({ tokens, depth, text }) {
        return `<h${depth} id="${anchorOf(text)}">${this.parser.parseInline(tokens)}</h${depth}>\n`;
      },
      link({ href, tokens }) {
        const text = this.parser.parseInline(tokens);
        const target = targetOf(href, file, root);
        return target === null ? text : `<a href="${target.replaceAll('"', '%22')}">${text}</a>`;
      },
      image: ({ text }) => text,
    },
  });
  const title = /^# (.+)$/m.exec(markdown)?.[1] ?? file;
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>${escapeUTF8(title)} · email-worker</title>
<link rel="stylesheet" href="${root}/guide.css">
<nav><a href="${root}/guide">API guide</a> · <a href="${root}">Operations</a></nav>
<main>
${await marked.parse(markdown)}</main>
</html>
`;
}

/** As GitHub makes it. */
const anchorOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-');

function targetOf(href: string, file: string, root: string): string | null {
  if (/^(?:https?:|#)/.test(href)) return href;
  const [relative = '', anchor] = href.split('#');
  const target = path.posix.join(path.posix.dirname(file), relative);
  if (target.startsWith('../') || !target.endsWith('.md')) return null;
  return `${root}/${nameOf(target)}${anchor === undefined ? '' : `#${anchor}`}`;
}
