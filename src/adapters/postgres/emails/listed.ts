import { LISTED_STATES } from '../../../core/delivery/states.ts';

/** Of an email `e`. What certainly did not go out is not shown. */
export const LISTED = `e.state in (${LISTED_STATES.map((state) => `'${state}'`).join(', ')})`;
