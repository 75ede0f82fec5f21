/**
 * The Content-Disposition of a download, RFC 6266 with RFC 8187 for names beyond ASCII.
 */

/** Limit of a name in characters; longer names lose characters before the extension, which stays. File systems take 255 bytes. */
const MAX_NAME_LENGTH = 150;

/** Contains the name for old clients (`filename`) and for all others (`filename*`). */
export function formatDisposition(kind: 'attachment' | 'inline', filename: string): string {
  const name = toSafeName(filename);
  const ascii = name.replace(/[^\u0020-\u007e]/g, '_').replace(/["\\%]/g, '_');
  // encodeURIComponent leaves '()* unescaped, which RFC 8187 §3.2.1 does not allow.
  const encoded = encodeURIComponent(name).replace(
    /['()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  return `${kind}; filename="${ascii}"; filename*=UTF-8''${encoded}`;
}

/**
 * The name without folders, without control characters, and without the marks that change the writing direction: they make `fdp.exe` look
 * like `exe.pdf`.
 */
function toSafeName(filename: string): string {
  const name = filename
    .toWellFormed()
    .replace(/[\u0000-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, '')
    .replace(/[/\\]/g, '_')
    .trim();
  if (name === '' || name === '.' || name === '..') return 'attachment';
  const characters = [...name];
  if (characters.length <= MAX_NAME_LENGTH) return name;
  const extension = /\.[A-Za-z0-9]{1,16}$/.exec(name)?.[0] ?? '';
  return characters.slice(0, MAX_NAME_LENGTH - extension.length).join('') + extension;
}
