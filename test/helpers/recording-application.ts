/**
 * An Application that records its calls and answers with samples, for tests of the HTTP edge alone. Each method may be replaced, to inject
 * faults.
 */
import { Readable } from 'node:stream';
import type { Application } from '../../src/api/application.ts';
import type { CustomerEmailsRequest } from '../../src/areas/emails/use-cases.ts';
import type { CheckedEmail, SendRequest } from '../../src/areas/send/use-cases.ts';
import type { SpoolFolder } from '../../src/platform/files/file-ports.ts';
import { toEmailsJson, toListingJson } from './emails-json.ts';
import { nothingRemoved } from '../../src/core/html/removed.ts';
import {
  FILE,
  IDS,
  sampleAttachment,
  sampleDetail,
  sampleDraft,
  sampleDraftSummary,
  sampleEmail,
  sampleListing,
  samplePlacement,
  samplePreview,
  sampleRecord,
  sampleRefused,
  sampleThread,
  sampleThreadEmail,
  sampleVariant,
  toSampleSend,
} from './sample-emails.ts';
import { sampleUnsubscribe, sampleEventId, sampleEvent, sampleErasure } from './sample-records.ts';

const sampleChecked: CheckedEmail = {
  queued: false,
  accountId: 'main',
  threadId: null,
  from: { name: '', localPart: 'sales', domain: 'example.com' },
  to: [{ name: 'Ann', localPart: 'ann', domain: 'example.com' }],
  cc: [],
  bcc: [],
  subject: 'Angebot',
  textBody: 'Hallo',
  htmlBody: null,
  sendAt: null,
  attachments: [{ filename: 'a.txt', contentType: 'text/plain', sizeBytes: 5 }],
  sizeBytes: 1234,
};

export interface RecordingApplication extends Application {
  readonly sends: { readonly request: SendRequest; readonly folder: SpoolFolder }[];
  /** Idempotency keys of the sends that had one. */
  readonly keys: string[];
  readonly threadReads: string[];
  readonly customerReads: CustomerEmailsRequest[];
  /** Every stream given out, to check that none is left open. */
  readonly streams: Readable[];
}

export function createRecordingApplication(overrides: Partial<Application> = {}): RecordingApplication {
  const sends: RecordingApplication['sends'] = [];
  const keys: string[] = [];
  const threadReads: string[] = [];
  const customerReads: CustomerEmailsRequest[] = [];
  const streams: Readable[] = [];
  const open = (bytes: Buffer): Readable => {
    const stream = Readable.from([bytes], { objectMode: false });
    streams.push(stream);
    return stream;
  };
  const sendMessage: Application['sendMessage'] = async (request, folder) => {
    sends.push({ request, folder });
    await folder.remove();
    return { kind: 'sent', id: IDS.email, messageId: sampleEmail.messageId, threadId: IDS.thread };
  };
  return {
    sends,
    keys,
    threadReads,
    customerReads,
    streams,
    sendMessage,
    async sendOnce(key, request, folder) {
      keys.push(key);
      return { outcome: await sendMessage(request, folder), replayed: false };
    },
    checkSend: async (_request, folder) => {
      await folder.remove();
      return sampleChecked;
    },
    checkReply: async (_request, folder) => {
      await folder.remove();
      return sampleChecked;
    },
    async sendReply({ message }, folder) {
      return sendMessage(toSampleSend(message), folder);
    },
    async sendReplyOnce(key, { message }, folder) {
      keys.push(key);
      return { outcome: await sendMessage(toSampleSend(message), folder), replayed: false };
    },
    async createDraft(_change, folder) {
      await folder.remove();
      return sampleDraft;
    },
    async changeDraft(_id, _version, _change, folder) {
      await folder.remove();
      return sampleDraft;
    },
    readDraft: async () => sampleDraft,
    readDraftFile: async () => ({ accountId: 'main', file: sampleAttachment }),
    listDrafts: async () => ({ drafts: [sampleDraftSummary], nextCursor: null }),
    deleteDraft: async () => undefined,
    async sendDraft({ read }, folder) {
      const sent = read(sampleDraft);
      const message = sent.kind === 'send' ? sent.request : toSampleSend(sent.request.message);
      return { outcome: await sendMessage(message, folder), replayed: false };
    },
    previewReply: async ({ kind }) => ({ ...samplePreview, kind }),
    async createUpload(_request, folder) {
      await folder.remove();
      return { ...sampleAttachment, accountId: 'main', expiresAt: sampleEmail.date };
    },
    async receiveMessage(_request, folder) {
      await folder.remove();
      return { kind: 'received', id: IDS.email, messageId: sampleEmail.messageId, threadId: IDS.thread };
    },
    async readThread(threadId) {
      threadReads.push(threadId);
      return { version: '1', emails: toEmailsJson([sampleEmail]) };
    },
    listThreads: async () => ({ threads: [sampleThread], nextCursor: null }),
    markThread: async (threadId, mark) => ({ threadId, unreadCount: mark === 'read' ? 0 : 1 }),
    async listCustomerEmails(request) {
      customerReads.push(request);
      return { emails: toEmailsJson([sampleEmail]), nextCursor: null };
    },
    listAmbiguousEmails: async () => ({
      emails: { kind: 'whole', json: JSON.stringify(toListingJson(sampleListing)) },
      nextCursor: null,
    }),
    listEvents: async () => ({ events: [sampleEvent], next: sampleEventId }),
    readLatestEventId: async () => sampleEventId,
    streamEvents: async () =>
      (async function* () {
        yield { events: [sampleEvent], next: sampleEventId };
      })(),
    readEmail: async () => sampleDetail,
    listEmails: async () => ({
      emails: { kind: 'whole', json: JSON.stringify(toListingJson(sampleListing)) },
      nextCursor: null,
    }),
    requestErasure: async () => sampleErasure,
    checkErasure: async () => sampleErasure.erased,
    readErasure: async () => sampleErasure,
    async changeSend(_id, _version, _change, folder) {
      await folder.remove();
      return sampleDetail;
    },
    explainPlacement: async () => samplePlacement,
    listRefusedMerges: async () => ({ refusedMerges: [sampleRefused], nextCursor: null }),
    readThreadPage: async () => ({ thread: sampleRecord, emails: [sampleThreadEmail], nextCursor: null }),
    changeThread: async () => sampleRecord,
    changeAndMark: async ({ id }) => ({ id, isChanged: true }),
    readUnsubscribeToken: async () => ({ list: sampleUnsubscribe.list, address: sampleUnsubscribe.address }),
    unsubscribe: async () => ({ list: sampleUnsubscribe.list, address: sampleUnsubscribe.address }),
    readRaw: async () => ({ sizeBytes: FILE.length, stream: open(FILE) }),
    readVariant: async () => sampleVariant,
    readVariantRaw: async () => ({ sizeBytes: FILE.length, stream: open(FILE) }),
    readSafeHtml: async () => ({
      html: '<div>Hallo</div>',
      sheet: '',
      ground: null,
      madeFrom: 'html',
      removed: { ...nothingRemoved(), scripts: 1, remote_images: 2 },
      deceptiveLinks: 1,
      isCut: false,
      images: [
        { attachmentId: IDS.attachment, contentId: 'logo@example.com', url: `/api/images/${IDS.attachment}` },
      ],
      imagesExpireAt: sampleEmail.date,
      hasImageProxy: true,
    }),
    readRemoteImage: async () => ({ type: 'image/png', sizeBytes: FILE.length, stream: open(FILE) }),
    readSignedImage: async () => ({ attachment: sampleAttachment, type: 'image/png' }),
    inlineTypeOf: async () => null,
    readAttachment: async () => sampleAttachment,
    openAttachment: async (_attachment, range) =>
      open(range === undefined ? FILE : FILE.subarray(range.start, range.end + 1)),
    checkReadiness: async () => ({
      ready: true,
      checks: [{ name: 'database', ok: true, code: null, detail: null }],
    }),
    ...overrides,
  };
}
