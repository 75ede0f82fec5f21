/**
 * The Range header, RFC 9110 §14.1.2 and §14.2: one range of bytes.
 */
import type { ByteRange } from '../../files/file-ports.ts';

/**
 * The bytes that are requested of a file of `sizeBytes`. null means the whole file: no header, or one that may be ignored (another unit,
 * several ranges, bad syntax). `unsatisfiable`: well-formed, but the file has none of these bytes.
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
    // Suffix: the last n bytes, or the whole file when it is shorter.
    const length = Math.min(Number(last), sizeBytes);
    return length === 0 ? 'unsatisfiable' : { start: sizeBytes - length, end: sizeBytes - 1 };
  }
  const start = Number(first);
  if (last !== '' && Number(last) < start) return null;
  if (start >= sizeBytes) return 'unsatisfiable';
  return { start, end: last === '' ? sizeBytes - 1 : Math.min(Number(last), sizeBytes - 1) };
}
