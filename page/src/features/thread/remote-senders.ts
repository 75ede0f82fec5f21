/** Senders whose remote images are loaded without asking: chosen by the reader, and kept in this browser. */

const KEY = 'email-worker.remote-senders';
/** The oldest choice is dropped first. */
const MAX_SENDERS = 500;

function read(): readonly string[] {
  try {
    const stored: unknown = JSON.parse(localStorage.getItem(KEY) ?? '[]');
    return Array.isArray(stored) ? stored.filter((value): value is string => typeof value === 'string') : [];
  } catch {
    // The browser stores nothing, or not a list: the reader is asked again.
    return [];
  }
}

export const isRemoteAllowed = (address: string): boolean => read().includes(address.toLowerCase());

export function allowRemote(address: string): void {
  const others = read().filter((other) => other !== address.toLowerCase());
  try {
    localStorage.setItem(KEY, JSON.stringify([...others, address.toLowerCase()].slice(-MAX_SENDERS)));
  } catch {
    // The choice then applies to this email alone.
  }
}
