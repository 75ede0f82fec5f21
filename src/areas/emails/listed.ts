import { LISTED_STATES } from '../../core/delivery/states.ts';

/** True for a listed email `e`. Emails that certainly did not go out are not shown. */
export const LISTED = `e.state in (${LISTED_STATES.map((state) => `'${state}'`).join(', ')})`;
