/**
 * File names of attachments: the name that is shown and sent, and the last segment of a storage path. Both come from
 * callers and strangers, so they are treated as attacks on paths, terminals and readers' eyes.
 */
import {
  MAX_ASCII_FILENAME_CHARS,
  MAX_DISPLAY_FILENAME_OCTETS,
  MAX_EXTENSION_OCTETS,
  MAX_STORAGE_FILENAME_OCTETS,
} from '../limits.ts';

const FALLBACK = 'attachment';

/** Controls, line separators, and characters that change the direction of text: `exe.\u202egpj` would show as `exe.jpg`. */
const UNSEEN = /[\p{Cc}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/gu;

/** Forbidden on Windows (Win32 "Naming Files, Paths, and Namespaces"); `/` and NUL everywhere. */
const UNSAFE = /[/\\:*?"<>|]/g;

/** Device names on Windows, whatever their extension. */
const RESERVED = /^(?:con|prn|aux|nul|conin\$|conout\$|(?:com|lpt)[0-9¹²³])(?= *(?:\.|$))/i;

/**
 * The name that is stored for people and sent on: without the folders of a path, with `_` for any other slash, without controls and characters that change the direction
 * of text, trimmed, at most 255 octets of UTF-8 with its extension kept, never empty (`attachment`). Unicode stays as
 * given. Idempotent.
 */
export function displayFilename(given: string): string {
  const clean = given.toWellFormed().replace(UNSEEN, '');
  const segments = clean
    .split(/[/\\]/)
    .map((segment) => segment.trim())
    .filter((segment) => segment !== '');
  const name = isPath(clean, segments) ? (segments.at(-1) ?? '') : segments.join('_');
  const short = shorten(name, MAX_DISPLAY_FILENAME_OCTETS, '').trim();
  // `.` and `..` are folders.
  return /^\.*$/.test(short) ? FALLBACK : short;
}

/** A path from the root of a system, or one with `.` or `..`; a slash anywhere else is part of a name: `Rechnung 2024/11.pdf`. */
function isPath(name: string, segments: readonly string[]): boolean {
  return /^\s*(?:[/\\~]|[a-z]:[/\\]|file:)/i.test(name) || segments.some((segment) => /^\.+$/.test(segment));
}

/** Names the files of one email's attachments. A thousand with one name take no more time than with a thousand names. */
export class StorageNames {
  readonly #taken: Set<string>;
  /** Name → the number for its next repeat. */
  readonly #numbers = new Map<string, number>();

  /** @param taken names that are not available */
  constructor(taken: Iterable<string> = []) {
    this.#taken = new Set(Array.from(taken, toKey));
  }

  /**
   * The last segment of a storage path for a name from displayFilename: NFC, nothing that Windows or Unix forbids or
   * treats as a device, no leading dot, at most 200 octets, and different from all others even where case does not
   * count (`name (2).pdf`).
   */
  add(display: string): string {
    const safe = display
      .toWellFormed()
      .normalize('NFC')
      .replace(UNSEEN, '')
      .replace(UNSAFE, '_')
      .replace(/^[.\s]+/, '');
    const short = trimEnd(shorten(safe, MAX_STORAGE_FILENAME_OCTETS - 1, ''));
    const name = short === '' ? FALLBACK : short.replace(RESERVED, '_$&');
    const key = toKey(name);
    let number = this.#numbers.get(key) ?? 1;
    let candidate = numbered(name, number);
    while (this.#taken.has(toKey(candidate))) candidate = numbered(name, ++number);
    this.#numbers.set(key, number + 1);
    this.#taken.add(toKey(candidate));
    return candidate;
  }
}

/** The name for programs that read no other: accents dropped, `_` for the rest, short, extension kept. */
export function asciiFilename(display: string): string {
  const ascii = display
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .replace(/[^ -~]+|["\\]/g, '_')
    .replaceAll('=?', '__');
  return shorten(ascii, MAX_ASCII_FILENAME_CHARS, '');
}

const numbered = (name: string, number: number): string =>
  number === 1 ? name : shorten(name, MAX_STORAGE_FILENAME_OCTETS, ` (${number})`);

/** Equal for names that at least one file system treats as the same. */
function toKey(name: string): string {
  return name.normalize('NFC').toUpperCase().toLowerCase();
}

/** Puts `suffix` before the extension, and cuts the stem between characters until everything fits. */
function shorten(name: string, maxOctets: number, suffix: string): string {
  const extension = extensionOf(name);
  const stem = name.slice(0, name.length - extension.length);
  const room = maxOctets - Buffer.byteLength(suffix + extension);
  return cutToOctets(stem, room) + suffix + extension;
}

/** The extension with its dot; empty when there is none. */
function extensionOf(name: string): string {
  const dot = name.lastIndexOf('.');
  const extension = dot > 0 ? name.slice(dot) : '';
  return Buffer.byteLength(extension) <= MAX_EXTENSION_OCTETS && !/\s/.test(extension) ? extension : '';
}

function cutToOctets(text: string, maxOctets: number): string {
  if (Buffer.byteLength(text) <= maxOctets) return text;
  let octets = 0;
  let end = 0;
  for (const character of text) {
    octets += Buffer.byteLength(character);
    if (octets > maxOctets) break;
    end += character.length;
  }
  return text.slice(0, end);
}

/** Windows drops dots and spaces at the end. A loop, since the regular expression would be quadratic. */
function trimEnd(name: string): string {
  let end = name.length;
  while (end > 0 && /[.\s]/.test(name.charAt(end - 1))) end--;
  return name.slice(0, end);
}
