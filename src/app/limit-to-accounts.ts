/**
 * The application as seen by a key that is limited to accounts: things of other accounts do not exist for it, and lists
 * leave them out. Things that belong to no account, such as suppressed addresses and the registrations of customers, are
 * refused.
 *
 * Every use case is named here, so that a new one does not compile until its behaviour for such a key is decided. A thing
 * keeps its account for ever, so it is looked up first, and then the use case works on it as usual.
 */
import { createHash } from 'node:crypto';
import { invalidRequest, ServiceError, type ErrorCode } from '../core/errors.ts';
import type { Application } from './application.ts';
import type { AccountFilter } from './base/account-filter.ts';
import type { Draft } from './drafts/draft-ports.ts';
import type { DraftChange } from './drafts/use-cases.ts';
import type { SpoolFolder } from './files/file-ports.ts';
import type { AccountOf } from './keys/account-of.ts';
import type { ReceiveRequest } from './receive/use-cases.ts';
import type { UploadRequest } from './uploads/use-cases.ts';
import type { SendRequest } from './send/use-cases.ts';

export interface LimitPorts {
  readonly application: Application;
  readonly accountOf: AccountOf;
  readonly defaultAccountId: string;
}

/** @param accounts of the caller, at least one */
export function limitToAccounts(
  { application, accountOf, defaultAccountId }: LimitPorts,
  accounts: readonly string[],
): Application {
  const sees = (accountId: string | null) => accountId !== null && accounts.includes(accountId);

  async function require(accountId: Promise<string | null>, missing: ErrorCode): Promise<void> {
    if (!sees(await accountId)) throw new ServiceError(missing);
  }
  const requireThread = (id: string) => require(accountOf.thread(id), 'thread_not_found');
  const requireEmail = (id: string) => require(accountOf.email(id), 'email_not_found');

  /** Requires access to an account that a request names. */
  function requireNamed(accountId: string): void {
    if (!sees(accountId)) throw new ServiceError('unknown_account', { values: { value: accountId } });
  }

  /** A list of one account, or of all that the caller sees. */
  function within<Request extends AccountFilter>(request: Request): Request {
    if (request.accountId === null) return { ...request, within: accounts };
    requireNamed(request.accountId);
    return request;
  }

  /** A request that names no account is for the default one, for the caller's only one, or for none. */
  function chosen(accountId: string | null): string {
    const id = accountId ?? (sees(defaultAccountId) || accounts.length > 1 ? defaultAccountId : accounts[0]);
    if (id === undefined || (accountId === null && !sees(id))) {
      throw invalidRequest('missing', { field: 'account_id' });
    }
    requireNamed(id);
    return id;
  }

  /** The thread decides the account of a send that names none. */
  async function ownSend(request: SendRequest): Promise<SendRequest> {
    const { threadId, accountId } = request;
    if (threadId !== null) await requireThread(threadId);
    if (accountId !== null) requireNamed(accountId);
    return threadId !== null && accountId === null ? request : { ...request, accountId: chosen(accountId) };
  }

  /**
   * Callers that see the same accounts share their `Idempotency-Key`s, and no others: a caller can't learn whether
   * another one used a key, and no send of another caller stands in the way. No caller can use the result as a key:
   * callers' keys have no spaces.
   */
  function ownKey(key: string): string {
    const names = createHash('sha256')
      .update([...accounts].sort().join(' '))
      .digest('hex');
    return `of ${names.slice(0, 16)} ${key}`;
  }

  async function ownUpload(request: UploadRequest): Promise<UploadRequest> {
    return { ...request, accountId: chosen(request.accountId) };
  }

  /** Anyone who hands in mail can write a delivery report, and a suppressed address is one for all accounts. */
  async function ownReceipt(request: ReceiveRequest): Promise<ReceiveRequest> {
    return { ...request, accountId: chosen(request.accountId), suppresses: false };
  }

  async function readDraft(id: string): Promise<Draft> {
    const draft = await application.readDraft(id);
    if (!sees(draft.accountId)) throw new ServiceError('draft_not_found');
    return draft;
  }

  /** null: it is deleted, or never existed. */
  async function readDraftIfThere(id: string): Promise<Draft | null> {
    const draft = await application.readDraft(id).catch(nullIfGone);
    if (draft !== null && !sees(draft.accountId)) throw new ServiceError('draft_not_found');
    return draft;
  }

  /** Everything that the draft names must be the caller's, and a draft that names nothing gets an account. */
  async function ownDraft(change: DraftChange, old: Draft | null): Promise<DraftChange> {
    const message = { ...old?.message, ...change.message };
    const answers = change.answers === undefined ? (old?.answers ?? null) : change.answers;
    const { account_id: accountId, thread_id: threadId } = message;
    if (typeof accountId === 'string') requireNamed(accountId);
    if (typeof threadId === 'string') await requireThread(threadId.toLowerCase());
    if (answers !== null) await requireEmail(answers.emailId);
    if (answers !== null || typeof threadId === 'string' || typeof accountId === 'string') return change;
    return { ...change, message: { ...change.message, account_id: old?.accountId ?? chosen(null) } };
  }

  /** A use case takes over the folder, so a refusal before it has to remove the folder. */
  async function taking<Own, Result>(
    folder: SpoolFolder,
    checked: Promise<Own>,
    work: (own: Own) => Promise<Result>,
  ): Promise<Result> {
    let own: Own;
    try {
      own = await checked;
    } catch (error) {
      await folder.remove();
      throw error;
    }
    return work(own);
  }

  async function refuse(): Promise<never> {
    throw new ServiceError('forbidden_account');
  }

  return {
    checkReadiness: () => application.checkReadiness(),

    listCustomerEmails: (request) => application.listCustomerEmails({ ...request, within: accounts }),
    listEmails: async (request) => application.listEmails(within(request)),
    async readEmail(id) {
      await requireEmail(id);
      return application.readEmail(id);
    },
    async readRaw(id) {
      await requireEmail(id);
      return application.readRaw(id);
    },
    async readVariant(emailId, id) {
      await require(accountOf.email(emailId), 'variant_not_found');
      return application.readVariant(emailId, id);
    },
    async readVariantRaw(emailId, id) {
      await require(accountOf.email(emailId), 'variant_not_found');
      return application.readVariantRaw(emailId, id);
    },
    async readAttachment(id) {
      await require(accountOf.attachment(id), 'attachment_not_found');
      return application.readAttachment(id);
    },
    async readSafeHtml(id, options) {
      await requireEmail(id);
      return application.readSafeHtml(id, options);
    },
    // Its address is the permission, and came from readSafeHtml.
    readSignedImage: (image) => application.readSignedImage(image),
    inlineTypeOf: (attachment) => application.inlineTypeOf(attachment),
    // The attachment was already read, within the accounts.
    openAttachment: (attachment, range) => application.openAttachment(attachment, range),

    listEvents: async (request, signal) => application.listEvents(within(request), signal),
    streamEvents: async (request, signal) => application.streamEvents(within(request), signal),
    // A position in the feed; it reveals nothing about the events.
    readLatestEventId: () => application.readLatestEventId(),

    sendMessage: (request, folder) =>
      taking(folder, ownSend(request), (own) => application.sendMessage(own, folder)),
    checkSend: (request, folder) =>
      taking(folder, ownSend(request), (own) => application.checkSend(own, folder)),
    sendOnce: (key, request, folder) =>
      taking(folder, ownSend(request), (own) => application.sendOnce(ownKey(key), own, folder)),
    async previewReply(options) {
      await requireEmail(options.emailId);
      return application.previewReply(options);
    },
    // For the account of the email.
    sendReply: (request, folder) =>
      taking(folder, requireEmail(request.emailId), () => application.sendReply(request, folder)),
    checkReply: (request, folder) =>
      taking(folder, requireEmail(request.emailId), () => application.checkReply(request, folder)),
    sendReplyOnce: (key, request, folder) =>
      taking(folder, requireEmail(request.emailId), () =>
        application.sendReplyOnce(ownKey(key), request, folder),
      ),
    createDraft: (change, folder) =>
      taking(folder, ownDraft(change, null), (own) => application.createDraft(own, folder)),
    readDraft,
    async readDraftFile(id, fileId) {
      const found = await application.readDraftFile(id, fileId);
      if (!sees(found.accountId))
        throw new ServiceError('draft_file_not_found', { values: { value: fileId } });
      return found;
    },
    listDrafts: async (request) => application.listDrafts(within(request)),
    changeDraft: (id, version, change, folder) =>
      taking(
        folder,
        readDraft(id).then((draft) => ownDraft(change, draft)),
        (own) => application.changeDraft(id, version, own, folder),
      ),
    async deleteDraft(id, version) {
      await readDraft(id);
      return application.deleteDraft(id, version);
    },
    sendDraft: (request, folder) =>
      taking(folder, readDraftIfThere(request.id), async (draft) => {
        // The version that was checked: another one may be of another account.
        if (draft !== null)
          return application.sendDraft({ ...request, version: request.version ?? draft.version }, folder);
        // A deleted draft only returns the answer of its send again.
        const result = await application.sendDraft(request, folder);
        const { outcome } = result;
        if (outcome.kind !== 'sent' && outcome.kind !== 'queued') throw new ServiceError('draft_not_found');
        await require(accountOf.email(outcome.id), 'draft_not_found');
        return result;
      }),
    changeSend: (id, version, change, folder) =>
      taking(folder, requireEmail(id), () => application.changeSend(id, version, change, folder)),
    // The token is the permission.
    readUnsubscribeToken: (token) => application.readUnsubscribeToken(token),
    unsubscribe: (token) => application.unsubscribe(token),

    // Only sends of its account may use it.
    createUpload: (request, folder) =>
      taking(folder, ownUpload(request), (own) => application.createUpload(own, folder)),

    receiveMessage: (request, folder) =>
      taking(folder, ownReceipt(request), (own) => application.receiveMessage(own, folder)),

    // Customers have mail of all accounts.
    listAmbiguousEmails: refuse,

    async readThreadPage(request) {
      await requireThread(request.threadId);
      return application.readThreadPage(request);
    },
    async changeThread(id, change) {
      await requireThread(id);
      return application.changeThread(id, change);
    },
    async readThread(id, known) {
      await requireThread(id);
      return application.readThread(id, known);
    },
    listThreads: async (request) => application.listThreads(within(request)),
    async markThread(id, mark) {
      await requireThread(id);
      return application.markThread(id, mark);
    },
    listRefusedMerges: async (request) => application.listRefusedMerges(within(request)),
    async explainPlacement(id) {
      await requireEmail(id);
      return application.explainPlacement(id);
    },

    // A person is erased from all accounts.
    requestErasure: refuse,
    checkErasure: refuse,
    readErasure: refuse,
  };
}

/** Throws any other error. */
function nullIfGone(error: unknown): null {
  if (error instanceof ServiceError && error.code === 'draft_not_found') return null;
  throw error;
}
