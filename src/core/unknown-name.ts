/** The refusal of a name that an operation does not have: a mistyped name must not change what the operation does. */
import { distance } from 'fastest-levenshtein';
import type { ErrorCode } from './error-registry.ts';
import { closeNameText } from './error-words.ts';
import { ServiceError } from './errors.ts';

/** Longer names are not compared; the cost grows with the square of the length. */
const MAX_COMPARED = 64;
/** `Subject`, `sendAt` and `label[]` are the names `subject`, `send_at` and `label`, written as elsewhere. */
const bare = (name: string): string => name.toLowerCase().replace(/[^a-z0-9]/g, '');

/** @param path stands before the name in the error, as `message.` */
export function unknownName(
  code: Extract<ErrorCode, 'unknown_field' | 'unknown_parameter'>,
  name: string,
  known: Iterable<string>,
  path = '',
): ServiceError {
  const close = closeName(name, known);
  const hint = close === null ? '' : closeNameText(path + close);
  // In a path, a dot of the name would separate two names.
  const inPath = code === 'unknown_field' ? name.replaceAll(/[\\.[]/g, '\\$&') : name;
  return new ServiceError(code, { values: { field: path + name, hint }, field: path + inPath });
}

/** The known name that differs from `name` in at most a third of its letters; null when there is none. */
function closeName(name: string, known: Iterable<string>): string | null {
  if (name.length > MAX_COMPARED) return null;
  const wanted = bare(name);
  let best: string | null = null;
  let least = Math.floor(wanted.length / 3) + 1;
  for (const other of known) {
    const differing = distance(wanted, bare(other));
    if (differing < least) {
      least = differing;
      best = other;
    }
  }
  return best;
}
