/**
 * The application in the name of a key: what it sends, and what it does to drafts, threads, sends, customers and
 * suppressed addresses, is recorded as done by the key. Acts with the secret of the configuration have no such name.
 */
import type { Application } from './application.ts';
import type { DraftSend } from './drafts/use-cases.ts';
import type { ReplyRequest } from './reply/use-cases.ts';

export function actAsKey(application: Application, keyId: string): Application {
  const named = <T extends object>(request: T) => ({ ...request, authorKeyId: keyId });
  const namedReply = (request: ReplyRequest): ReplyRequest => ({
    ...request,
    message: named(request.message),
  });
  const namedDraft = (sent: DraftSend): DraftSend =>
    sent.kind === 'send'
      ? { kind: 'send', request: named(sent.request) }
      : { kind: 'reply', request: namedReply(sent.request) };

  return {
    ...application,
    sendMessage: (request, folder) => application.sendMessage(named(request), folder),
    sendOnce: (key, request, folder) => application.sendOnce(key, named(request), folder),
    checkSend: (request, folder) => application.checkSend(named(request), folder),
    checkReply: (request, folder) => application.checkReply(namedReply(request), folder),
    sendReply: (request, folder) => application.sendReply(namedReply(request), folder),
    sendReplyOnce: (key, request, folder) => application.sendReplyOnce(key, namedReply(request), folder),
    createDraft: (change, folder) => application.createDraft(named(change), folder),
    changeDraft: (id, version, change, folder) => application.changeDraft(id, version, named(change), folder),
    deleteDraft: (id, version) => application.deleteDraft(id, version, keyId),
    sendDraft: (request, folder) =>
      application.sendDraft({ ...request, read: (draft) => namedDraft(request.read(draft)) }, folder),
    changeSend: (id, version, change, folder) => application.changeSend(id, version, change, folder, keyId),
    changeThread: (id, change) => application.changeThread(id, named(change)),
    markThread: (id, mark) => application.markThread(id, mark, keyId),
    // These record no author: it says whose share of the reading processes they use.
    receiveMessage: (request, folder) => application.receiveMessage(named(request), folder),
    previewReply: (options) => application.previewReply(named(options)),
    readSafeHtml: (id, options) => application.readSafeHtml(id, named(options)),
  };
}
