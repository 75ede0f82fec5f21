/**
 * Tells whether an email in an mbox file was read, by the field Status that mail programs keep in it: `RO` is read, `O` is
 * not. No standard defines it; it is as old as mbox.
 */

/**
 * @param header the beginning of a message, its header first
 * @returns null without the field. Any sender can write one: of several fields, all have to mark the email as read.
 */
export function readStatus(header: Buffer): boolean | null {
  const [fields = ''] = header.toString('latin1').split(/\r?\n\r?\n/, 1);
  const values = [...fields.matchAll(/^Status[ \t]*:([^\r\n]*)/gim)];
  return values.length === 0 ? null : values.every(([, value = '']) => value.includes('R'));
}
