/** Where a long text may be cut: the index of the end that stays. */

/** The site that an address belongs to: `bank.co.uk` and a name before it. */
const LABELS = 4;
const MAX_END_CHARS = 40;

/** The domain, or its last labels. */
export function cutOfAddress(address: string): number {
  const at = address.lastIndexOf('@');
  if (address.length - at <= MAX_END_CHARS) return Math.max(0, at);
  const labels = address.slice(at + 1).split('.');
  const end = labels.slice(-LABELS).join('.');
  return address.length - end.length;
}

/** Characters before the extension, which keep a name together. */
const BEFORE_CHARS = 4;
/** Longer endings are no extensions. */
const MAX_EXTENSION_CHARS = 24;

/** The extension, and a few characters before it. */
export function cutOfFile(name: string): number {
  const dot = name.lastIndexOf('.');
  const isExtension = dot > 0 && name.length - dot <= MAX_EXTENSION_CHARS;
  return Math.max(0, (isExtension ? dot : name.length - BEFORE_CHARS) - BEFORE_CHARS);
}
