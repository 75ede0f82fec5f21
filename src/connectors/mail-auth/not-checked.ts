import type { AuthResults } from '../../core/message/authentication.ts';

/** The results for a message that could not be checked by its own doing. It has not passed. */
export const NOT_CHECKED: AuthResults = {
  spf: null,
  dkim: [],
  dmarc: { result: 'permerror', domain: null },
  arc: null,
};
