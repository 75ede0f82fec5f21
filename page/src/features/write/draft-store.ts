/** The drafts of the service, as the keepers of texts use them. */
import { client } from '../../api/client.ts';
import type { RecoverPorts } from './recover-texts.ts';

/** Drafts of a person that are compared with a text that was left over. */
const MAX_COMPARED = 50;

export const draftStore: RecoverPorts['drafts'] = {
  create: (request, options) => client.drafts.create(request, options),
  change: (id, version, request, options) => client.drafts.change(id, version, request, options),
  get: (id) => client.drafts.get(id),
  list: async (author) => (await client.drafts.list({ author, limit: MAX_COMPARED }).page()).items,
};
