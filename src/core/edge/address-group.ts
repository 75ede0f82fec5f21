/**
 * The clients that count as one: an IPv4 address, or an IPv6 network of 64 bits, the least that a single customer of a
 * provider gets (RFC 6177). If each address counted, IPv6 clients would have as many tries as they like.
 */

/**
 * The group as text: `203.0.113.7`, `2001:db8:0:1::/64`; an IPv4 address inside IPv6 is itself.
 *
 * @param address a valid IPv4 or IPv6 address as Node.js gives it, maybe with a zone; anything else is its own group
 */
export function addressGroup(address: string): string {
  const [plain = ''] = address.toLowerCase().split('%', 1);
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/.exec(plain)?.[1];
  if (mapped !== undefined) return mapped;
  if (!plain.includes(':')) return plain;
  const [head = '', tail] = plain.split('::', 2);
  const before = head === '' ? [] : head.split(':');
  const after = tail === undefined || tail === '' ? [] : tail.split(':');
  // An IPv4 address at the end stands for two groups of digits.
  const missing = 8 - before.length - after.length - (plain.includes('.') ? 1 : 0);
  const groups = [...before, ...Array.from({ length: Math.max(0, missing) }, () => '0'), ...after];
  return `${groups
    .slice(0, 4)
    .map((digits) => digits.replace(/^0+(?=.)/, ''))
    .join(':')}::/64`;
}
