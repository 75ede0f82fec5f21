/** Gives the service the texts that a closed or crashed window could not save. */
import type { Draft, DraftSummary } from 'email-worker-client';
import { codeOf } from '../../api/failure.ts';
import type { DeviceCopies, DeviceCopy } from './device-copy.ts';
import { saysAll, type DraftStore } from './draft-keeper.ts';

export interface RecoverPorts {
  readonly drafts: DraftStore & { readonly list: (author: string) => Promise<readonly DraftSummary[]> };
  readonly copies: Pick<DeviceCopies, 'left' | 'drop'>;
}

/** Returns the number of texts that the service did not have. A text that can't be stored now stays for the next time. */
export async function recoverTexts({ drafts, copies }: RecoverPorts, account: string): Promise<number> {
  let count = 0;
  for (const [key, copy] of await copies.left(account)) {
    const isNew = await storeAnyway(drafts, copy).catch((error: unknown) => {
      if (codeOf(error) !== null) return null;
      throw error;
    });
    if (isNew === null) continue;
    copies.drop(key);
    if (isNew) count += 1;
  }
  return count;
}

/** Without its sender if the account no longer sends as that address. */
async function storeAnyway(drafts: RecoverPorts['drafts'], copy: DeviceCopy): Promise<boolean> {
  try {
    return await store(drafts, copy);
  } catch (error) {
    if (codeOf(error) !== 'forbidden_from') throw error;
    const { from: _refused, ...message } = copy.request.message ?? {};
    return store(drafts, { ...copy, request: { ...copy.request, message } });
  }
}

/** False when the service had the text: the answer to the last save was lost. */
async function store(
  drafts: RecoverPorts['drafts'],
  { draft: known, request }: DeviceCopy,
): Promise<boolean> {
  const message = request.message ?? {};
  const found = known === null ? await findSame(drafts, request) : await find(drafts, known.id);
  if (found !== null && saysAll(found.message, message)) return false;
  if (found !== null && found.version === known?.version)
    await drafts.change(found.id, found.version, request, { keepalive: false });
  // Another window has gone on with that draft, or sent it: both texts are kept.
  else await drafts.create(request, { keepalive: false });
  return true;
}

async function find(drafts: DraftStore, id: string): Promise<Draft | null> {
  try {
    return await drafts.get(id);
  } catch (error) {
    if (codeOf(error) === 'draft_not_found') return null;
    throw error;
  }
}

/** A draft that was made by a save whose answer was lost. */
async function findSame(
  drafts: RecoverPorts['drafts'],
  { author, message = {} }: DeviceCopy['request'],
): Promise<Draft | null> {
  for (const { id } of await drafts.list(author ?? '')) {
    const draft = await drafts.get(id);
    if (saysAll(draft.message, message ?? {})) return draft;
  }
  return null;
}
