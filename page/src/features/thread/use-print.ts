/** Prints a thread whole, or one of its emails: what is folded on screen is opened before the browser takes its picture. */
import { useEffect, useState } from 'react';
import { flushSync } from 'react-dom';

/** `all`, or the id of an email; null: nothing is being printed. */
export type Printed = string | null;

export function usePrint(): { readonly printed: Printed; readonly print: (what: string) => void } {
  const [printed, setPrinted] = useState<Printed>(null);
  useEffect(() => {
    const before = (): void => flushSync(() => setPrinted((chosen) => chosen ?? 'all'));
    const after = (): void => setPrinted(null);
    addEventListener('beforeprint', before);
    addEventListener('afterprint', after);
    return () => {
      removeEventListener('beforeprint', before);
      removeEventListener('afterprint', after);
    };
  }, []);
  const print = (what: string): void => {
    flushSync(() => setPrinted(what));
    globalThis.print();
  };
  return { printed, print };
}
