/** True for an address that only programs of the same machine reach (RFC 1122 §3.2.1.3, RFC 4291 §2.5.3). */
export function isLoopback(address: string): boolean {
  const plain = address.toLowerCase().replace(/^::ffff:/, '');
  return plain === '::1' || /^127(?:\.\d{1,3}){3}$/.test(plain);
}
