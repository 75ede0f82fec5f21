/** A person's initials, always in the same colour. */
import './avatar.css';

const TONES = 8;
/** Strangers' names may have any length. */
const MAX_READ = 100;

function initialsOf(name: string): string {
  const words = name
    .slice(0, MAX_READ)
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== '');
  const first = words[0] ?? '?';
  const last = words.length > 1 ? (words.at(-1) ?? '') : '';
  const letter = (word: string): string => [...word][0] ?? '';
  return (letter(first) + letter(last)).toUpperCase();
}

function toneOf(key: string): number {
  let hash = 0;
  for (const char of key.slice(0, MAX_READ)) hash = (hash * 31 + (char.codePointAt(0) ?? 0)) % 65_521;
  return hash % TONES;
}

interface AvatarProps {
  readonly name: string;
  /** The text that decides the colour, such as the address. */
  readonly of: string;
  readonly isSmall?: boolean;
}

export function Avatar({ name, of, isSmall = false }: AvatarProps) {
  return (
    <span className={isSmall ? 'avatar avatar-small' : 'avatar'} data-tone={toneOf(of)} aria-hidden>
      {initialsOf(name === '' ? of : name)}
    </span>
  );
}
