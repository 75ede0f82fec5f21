/** The value once it has stopped changing for a moment: fast typing causes one request. */
import { useEffect, useState } from 'react';

const ASK_AFTER_MS = 120;

export function useLate<T>(value: T): T {
  const [late, setLate] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setLate(value), ASK_AFTER_MS);
    return () => clearTimeout(timer);
  }, [value]);
  return late;
}
