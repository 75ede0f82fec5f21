/** The engine's compiler in processes that end soon. */
import { setFlagsFromString } from 'node:v8';

/** The engine of Node.js 24. It has no such flag, writes an error for it to stderr, and decides by other measures. */
const ENGINE_WITHOUT_BUDGET = 13;

/**
 * Lets code run about four times as long before the engine optimises it, for processes that often end before that pays off: reading some
 * hundred mails costs a third less, and from some thousand on it makes no difference. Not for the service, where a send would cost more.
 */
export function compileLate(): void {
  if (Number.parseInt(process.versions.v8, 10) < ENGINE_WITHOUT_BUDGET)
    setFlagsFromString('--interrupt-budget=500000');
}
