/** Writing, changing and sending drafts. */
import { createHash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { MAX_DRAFT_CHARS, MAX_SHOWN_CHARS } from '../../core/drafts/limits.ts';
import { naming, ServiceError } from '../../core/errors.ts';
import { ACCOUNT_ID, type Account, type Logger } from '../../platform/base/basics.ts';
import { PLACE_CURSOR, readPage } from '../../platform/base/paging.ts';
import type { AttachmentInput } from '../emails/prepare-attachments.ts';
import { deleteFiles } from '../../platform/files/delete-files.ts';
import type { BlobStore, RequireCertainty, SpoolFolder } from '../../platform/files/file-ports.ts';
import type { ReplyRequest } from '../reply/use-cases.ts';
import { asksForQueue } from '../send/queue-request.ts';
import { refuseUnsendable } from '../send/read-additions.ts';
import type { KeyedSend } from '../send/send-once.ts';
import type { SendOnceResult, SendOutcome, SendRequest, SendResult } from '../send/use-cases.ts';
import { fetchFiles, toFiles, type DraftFilePorts, type FileTarget } from './draft-files.ts';
import type { DraftAccount, DraftContent, DraftRecord, DraftRefusal, DraftStore } from './draft-ports.ts';
import type { DraftChange, DraftFileInput, DraftSend, DraftUseCases } from './use-cases.ts';
import { senderOf } from '../send/sender.ts';
import { inMessage, ofMessage } from './own-drafts.ts';
import { refuseContradictions } from '../../core/drafts/contradictions.ts';

export interface DraftPorts extends DraftFilePorts {
  readonly drafts: DraftStore;
  readonly accounts: ReadonlyMap<string, Account>;
  readonly blobs: Pick<BlobStore, 'get' | 'put' | 'delete'>;
  readonly logger: Logger;
  readonly requireStorage: () => Promise<void>;
  readonly requireCertainty: RequireCertainty;
  /** All three take over the folder. */
  readonly send: (request: SendRequest, folder: SpoolFolder, emailId: string) => Promise<SendResult>;
  readonly reply: (request: ReplyRequest, folder: SpoolFolder, emailId: string) => Promise<SendResult>;
  readonly sendOnce: (key: string, send: KeyedSend, folder: SpoolFolder) => Promise<SendOnceResult>;
}

const EMPTY: DraftContent = { author: null, answers: null, message: {}, files: [] };

export function createDrafts(ports: DraftPorts): DraftUseCases {
  const { drafts, ids } = ports;

  /** Stores new files first, so that the draft never names a file that does not exist. */
  async function write<T>(
    id: string,
    old: DraftContent,
    change: DraftChange,
    folder: SpoolFolder,
    store: (record: DraftRecord) => Promise<T>,
  ): Promise<T> {
    const stored: string[] = [];
    try {
      const record = await toRecord(ports, id, old, change, { folder, stored });
      return await store(record);
    } catch (error) {
      // After a lost answer the database may have the draft and its files; the file cleaner finds out.
      const isRefused = error instanceof ServiceError && !error.temporary;
      if (isRefused) await deleteFiles(ports, stored);
      throw error;
    } finally {
      await folder.remove();
    }
  }

  return {
    createDraft(change, folder) {
      const id = ids.uuid();
      return naming(
        id,
        write(id, EMPTY, change, folder, (record) => drafts.create(record)),
      );
    },

    async readDraft(id) {
      const draft = await drafts.read(id);
      if (draft === null) throw new ServiceError('draft_not_found');
      return draft;
    },

    async readDraftFile(id, fileId) {
      const found = await drafts.readFile(id, fileId);
      if (found === null) throw new ServiceError('draft_file_not_found', { values: { value: fileId } });
      return found;
    },

    async listDrafts({ cursor, limit, ...filter }) {
      const { items, nextCursor } = await readPage(
        PLACE_CURSOR,
        { cursor, limit },
        (after, most) => drafts.list(filter, after, most),
        ({ updatedAt: date, id }) => ({ date, id }),
      );
      return { drafts: items, nextCursor };
    },

    async changeDraft(id, version, change, folder) {
      const old = await drafts.read(id).catch(async (error: unknown) => {
        await folder.remove();
        throw error;
      });
      if (old === null || old.version !== version) {
        await folder.remove();
        throw refusal(old === null ? { kind: 'not_found' } : { kind: 'changed', version: old.version });
      }
      if (!old.isBeingSent && changesNothing(old, change)) {
        await folder.remove();
        return old;
      }
      const { draft, orphans } = await write(id, old, change, folder, async (record) => {
        const result = await drafts.change(version, record);
        if (result.kind !== 'done') throw refusal(result);
        return result;
      });
      await deleteFiles(ports, orphans);
      return draft;
    },

    async deleteDraft(id, version, keyId) {
      await ports.requireCertainty();
      const result = await drafts.delete(id, version, keyId);
      if (result.kind !== 'done') throw refusal(result);
      await deleteFiles(ports, result.orphans);
    },

    async sendDraft({ id, version, read }, folder) {
      const draft = await drafts.read(id);
      if (draft === null && version === null) throw new ServiceError('draft_not_found');
      if (draft !== null && version !== null && draft.version !== version) {
        throw refusal({ kind: 'changed', version: draft.version });
      }
      // For a deleted draft, only an earlier answer can be returned.
      const sent = draft === null ? null : inMessage(() => read(draft));
      const asked = draft?.version ?? version ?? 0;
      const keyed: KeyedSend = {
        queued: sent !== null && asksForQueue(messageOf(sent)),
        fingerprint: async () => createHash('sha256').update(keyOf(id, asked)).digest(),
        send: async (own, emailId) => {
          try {
            if (draft === null || sent === null) throw new ServiceError('draft_not_found');
            const begun = await drafts.beginSending(id, asked, emailId);
            if (begun.kind !== 'done') throw refusal(begun);
            const files = await fetchFiles(ports, draft.files, own);
            return await sendAs(ports, withFiles(sent, files), own, emailId).catch((error: unknown) => {
              throw ofMessage(error);
            });
          } catch (error) {
            await own.remove();
            throw error;
          }
        },
      };
      const result = await ports.sendOnce(keyOf(id, asked), keyed, folder);
      if (draft !== null && isGone(result.outcome)) {
        await deleteFiles(
          ports,
          draft.files.map(({ storagePath }) => storagePath),
        );
      }
      return result;
    },
  };
}

/** No caller can use such a key: callers' keys have no spaces. */
const keyOf = (id: string, version: number): string => `draft ${id} ${version}`;

/**
 * The same rule as in the statement that completes a key: a draft that the mail server refused may be corrected and sent.
 */
function isGone(outcome: SendOutcome): boolean {
  return outcome.kind === 'sent' || outcome.kind === 'queued' || outcome.kind === 'partial';
}

/** The values that it has, given back. */
function changesNothing(old: DraftContent, { author, answers, message = {}, files }: DraftChange): boolean {
  return (
    (author === undefined || author === old.author) &&
    (answers === undefined || isDeepStrictEqual(answers, old.answers)) &&
    Object.entries(message).every(([name, value]) => isDeepStrictEqual(value, old.message[name] ?? null)) &&
    (files === undefined || areKept(old, files))
  );
}

/** All files as they are, by their identifiers; named ones are taken for new. */
const areKept = (old: DraftContent, files: readonly DraftFileInput[]): boolean =>
  files.length === old.files.length &&
  files.every((file, index) => 'keptId' in file && file.keptId === old.files[index]?.id);

const messageOf = (sent: DraftSend) => (sent.kind === 'send' ? sent.request : sent.request.message);

function withFiles(sent: DraftSend, attachments: readonly AttachmentInput[]): DraftSend {
  if (sent.kind === 'send') return { kind: 'send', request: { ...sent.request, attachments } };
  return {
    kind: 'reply',
    request: { ...sent.request, message: { ...sent.request.message, attachments } },
  };
}

function sendAs(
  ports: DraftPorts,
  sent: DraftSend,
  folder: SpoolFolder,
  emailId: string,
): Promise<SendResult> {
  return sent.kind === 'send'
    ? ports.send(sent.request, folder, emailId)
    : ports.reply(sent.request, folder, emailId);
}

function refusal(result: DraftRefusal): ServiceError {
  switch (result.kind) {
    case 'not_found':
      return new ServiceError('draft_not_found');
    case 'being_sent':
      return new ServiceError('draft_being_sent');
    case 'changed':
      return new ServiceError('draft_changed', { details: String(result.version) });
  }
}

async function toRecord(
  ports: DraftPorts,
  id: string,
  old: DraftContent,
  change: DraftChange,
  target: FileTarget,
): Promise<DraftRecord> {
  const message = Object.fromEntries(
    Object.entries({ ...old.message, ...change.message }).filter(([, value]) => value !== null),
  );
  if (JSON.stringify(message).length > MAX_DRAFT_CHARS) throw new ServiceError('payload_too_large');
  if (change.unfinished !== undefined) refuseUnsendable(change.unfinished);
  const { author = old.author, answers = old.answers } = change;
  refuseContradictions(message, answers !== null);
  // Cut in the middle of a character.
  const textOf = (value: unknown) =>
    [value ?? []].flat().map(String).join(', ').slice(0, MAX_SHOWN_CHARS).toWellFormed();
  const idOf = (name: string) => (typeof message[name] === 'string' ? message[name] : null);
  const accountId = idOf('account_id');
  // One that is stored may be of an account that was configured earlier.
  const isNamed = (change.message?.['account_id'] ?? null) !== null;
  if (accountId !== null && (isNamed ? !ports.accounts.has(accountId) : !ACCOUNT_ID.test(accountId))) {
    throw new ServiceError('unknown_account', { values: { value: accountId } });
  }
  const { from = null } = change.unfinished ?? {};
  const named = accountId === null ? undefined : ports.accounts.get(accountId);
  // Of another account it is found when the draft is sent.
  if (named !== undefined && from !== null) inMessage(() => senderOf(named, from));
  const account: DraftAccount = {
    answers,
    accountId,
    defaultAccountId: ports.defaultAccountId,
    threadId: idOf('thread_id')?.toLowerCase() ?? null,
  };
  // Files that the draft has no more are deleted.
  if (change.files !== undefined && old.files.length + change.files.length > 0) await ports.requireStorage();
  const files =
    change.files === undefined ? old.files : await toFiles(ports, account, old.files, change, target);
  return {
    ...account,
    id,
    keyId: change.authorKeyId,
    author,
    message,
    files,
    recipients: textOf(message['to']),
    subject: textOf(message['subject']),
  };
}
