/**
 * The Range header, RFC 9110 §14.1.2 and §14.2: one range of bytes.
 */
import type { ByteRange } from '../../../app/files/file-ports.ts';

/**
 * Which bytes of a file of `sizeBytes` are asked for. null means the whole file: there is no header, or one that may
 * be ignored (another unit, several ranges, bad syntax). `unsatisfiable`: well-formed, but nothing of it exists.
 */
export function parseByteRange(
  header: string | undefined,
  sizeBytes: number,
): ByteRange | 'unsatisfiable' | null {
  const match = /^bytes=[ \t]*(\d*)-(\d*)[ \t]*$/i.exec(header ?? '');
  const first = match?.[1] ?? '';
  const last = match?.[2] ?? '';
  if (first === '' && last === '') return null;
  if (first === '') {
    // Suffix: the last n bytes, or all when there are fewer.
    const length = Math.min(Number(last), sizeBytes);
    return length === 0 ? 'unsatisfiable' : { start: sizeBytes - length, end: sizeBytes - 1 };
  }
  const start = Number(first);
  if (last !== '' && Number(last) < start) return null;
  if (start >= sizeBytes) return 'unsatisfiable';
  return { start, end: last === '' ? sizeBytes - 1 : Math.min(Number(last), sizeBytes - 1) };
}
