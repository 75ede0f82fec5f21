/** Drafts: POST and GET of /api/drafts; GET, PATCH and DELETE of /api/drafts/{id}; its files; POST /api/drafts/{id}/send. */
import type { Draft, DraftFile } from './draft-ports.ts';
import { MAX_AUTHOR_CHARS } from '../../core/drafts/limits.ts';
import type { ErrorCode } from '../../core/error-registry.ts';
import type { HttpContext, HttpServer } from '../../platform/http/answers/context.ts';
import { routedWith } from '../../platform/operation/declaration.ts';
import type { FindsAccounts } from '../../platform/http/operations/account-rules.ts';
import type { DraftUseCases, DraftsPage, DraftsRequest } from './use-cases.ts';
import { schemaOfOperation } from '../../platform/http/operations/operation-schema.ts';
import {
  ownChangedDraft,
  ownDraftFile,
  ownDraftSend,
  ownNewDraft,
  requireOwnDraft,
  requireOwnReplay,
  type ChangedDraft,
  type OwnedSend,
} from './own-drafts.ts';
import { askedBy } from '../send/own-send.ts';
import type { SendOnceResult } from '../send/use-cases.ts';
import { keyIdOf } from '../../core/keys/caller.ts';
import { ifMatch, requiredVersion, wantedVersion } from '../../platform/http/answers/entity-tag.ts';
import {
  answerStoredFile,
  STORED_FILE_CONDITIONS,
  STORED_FILE_ERRORS,
  STORED_FILE_QUERY,
  STORED_FILE_RESPONSES,
} from '../../platform/http/answers/stored-file.ts';
import { JSON_BODY_ERRORS, optionalJsonBody, refuseOtherMedia } from '../../platform/http/body/json-body.ts';
import { DELETION_ERRORS, errorResponses } from '../../platform/schemas/error-schemas.ts';
import {
  AccountId,
  PAGE_PARAMETERS,
  toPageRequest,
  PAGE_ERRORS,
} from '../../platform/schemas/page-schemas.ts';
import { jsonResponse, readUuidParameter, record, Timestamp, Uuid } from '../../platform/schemas/schemas.ts';
import { REPLAYED_HEADER } from '../send/idempotency-key.ts';
import { prefersAsync } from '../send/prefer.ts';
import { answerSend, PreferHeader, SEND_ERRORS, SEND_RESPONSES } from '../send/send-answer.ts';
import type { SendInput } from '../send/send-input.ts';
import { DraftBody, DraftSendBody, readDraftBody, readDraftSend } from './draft-body.ts';
import { DraftSchema, DraftsSchema, toDraftJson, toSummaryJson } from './draft-json.ts';

type DraftDeps = DraftUseCases & FindsAccounts;

const routed = routedWith<DraftDeps>();

const Deleted = record('DeletedDraft', { draft_id: Uuid, deleted_at: Timestamp });

const DraftParams = {
  type: 'object',
  required: ['id'],
  properties: { id: { ...Uuid, description: 'The draft.' } },
} as const;

const DraftFileParams = {
  type: 'object',
  required: ['id', 'attachmentId'],
  properties: {
    ...DraftParams.properties,
    attachmentId: { ...Uuid, description: 'One of its `attachments`.' },
  },
} as const;

const ListQuery = {
  type: 'object',
  // A misspelt filter must not return more than was asked for.
  additionalProperties: false,
  properties: {
    thread_id: { ...Uuid, description: 'Only drafts of this thread.' },
    account_id: { ...AccountId, description: 'Only of this account.' },
    author: {
      type: 'string',
      minLength: 1,
      maxLength: MAX_AUTHOR_CHARS,
      description: 'Only drafts of this author.',
    },
    ...PAGE_PARAMETERS,
  },
} as const;

const ETAG = { ETag: { type: 'string', description: 'The version in quotes, for `If-Match`.' } } as const;

const BODY_ERRORS = [
  ...JSON_BODY_ERRORS,
  'invalid_uuid',
  'invalid_address',
  'forbidden_from',
  'invalid_text',
  'header_injection',
  'header_not_allowed',
  'duplicate_field',
  'invalid_tag',
  'invalid_message_id',
  'invalid_filename',
  'invalid_base64',
  'invalid_send_at',
  'invalid_lane',
  'invalid_list',
  'metadata_too_large',
  'variables_too_large',
  'unknown_account',
  'attachments_too_large',
  'draft_file_not_found',
  'upload_not_found',
  'attachment_not_found',
  'content_missing',
  'invalid_credentials',
  'busy',
  'database_unavailable',
  'storage_unavailable',
  'storage_mismatch',
  'disk_full',
] as const satisfies readonly ErrorCode[];

interface Named {
  readonly id: string;
}

const createDraft = routed<ChangedDraft, Draft>()({
  id: 'createDraft',
  method: 'POST',
  path: '/api/drafts',
  right: 'draft',
  tag: 'Drafts',
  summary: 'Create a draft',
  description:
    'An unfinished email. Missing values, unfinished addresses and times that have passed are reported when it is sent; what no ' +
    'send accepts is refused at once. ' +
    'Files named by `upload_id` or `attachment_id` are copied, and stay when the upload expires or the email is deleted. ' +
    '`attachment_id` also needs the right `read`; `details` names a file that was not found.',
  account: { decide: ownNewDraft },
});

const listDrafts = routed<DraftsRequest, DraftsPage>()({
  id: 'listDrafts',
  method: 'GET',
  path: '/api/drafts',
  right: 'draft',
  tag: 'Drafts',
  summary: 'List drafts',
  description: 'Most recently changed first.',
  account: 'list',
});

const getDraft = routed<Named, Draft>()({
  id: 'getDraft',
  method: 'GET',
  path: '/api/drafts/:id',
  right: 'draft',
  tag: 'Drafts',
  summary: 'Read a draft',
  description: 'The draft as it was saved.',
  account: { shown: ({ accountId }) => accountId, missing: 'draft_not_found' },
});

const getDraftAttachment = routed<Named & { readonly attachmentId: string }, DraftFile>()({
  id: 'getDraftAttachment',
  method: 'GET',
  path: '/api/drafts/:id/attachments/:attachmentId',
  right: 'draft',
  tag: 'Drafts',
  summary: 'Download a file of a draft',
  description:
    'As `GET /api/attachments/{id}` does, until the draft is sent or deleted. The ETag is the SHA-256 of the bytes; a file of a ' +
    'draft never changes. Several ranges at once are not supported: the whole file is sent.',
  account: { decide: ownDraftFile },
});

const changeDraft = routed<Named & ChangedDraft, Draft>()({
  id: 'changeDraft',
  method: 'PATCH',
  path: '/api/drafts/:id',
  right: 'draft',
  tag: 'Drafts',
  summary: 'Change a draft',
  description:
    'Absent fields stay unchanged, also each field of `message`; null removes a field. `attachments` are replaced as a ' +
    'whole. When another change came first, the response is 412 and `details` has the current version.',
  account: { decide: ownChangedDraft },
});

const deleteDraft = routed<Named, void>()({
  id: 'deleteDraft',
  method: 'DELETE',
  path: '/api/drafts/:id',
  right: 'draft',
  tag: 'Drafts',
  summary: 'Delete a draft',
  description: 'With its files. Needs no body; a body with fields is refused.',
  account: { decide: requireOwnDraft },
});

const sendDraft = routed<OwnedSend, SendOnceResult>()({
  id: 'sendDraft',
  method: 'POST',
  path: '/api/drafts/:id/send',
  // The draft may quote an email, or include its files; the draft's author chose the email.
  right: ['read', 'send'],
  tag: 'Drafts',
  summary: 'Send a draft',
  description:
    'Responds like a send and deletes the draft. A version is sent once: a repeat with the same `If-Match` gets the first ' +
    'response. When the mail server refused it, the draft stays; after a change it can be sent again. Needs no body.',
  account: { decide: ownDraftSend },
});

export function registerDraftRoutes(
  app: HttpServer,
  context: HttpContext<DraftDeps>,
  input: SendInput,
): void {
  const { perform, limits, spool, clock, requireRight } = context;

  app.post(
    createDraft.path,
    {
      // The body is read as a stream and checked by readDraftBody; the schema is for the document.
      validatorCompiler: () => () => true,
      schema: {
        ...schemaOfOperation(createDraft),
        body: DraftBody,
        response: { 201: jsonResponse('Stored.', DraftSchema, ETAG), ...errorResponses(...BODY_ERRORS) },
      },
    },
    (request, reply) => {
      refuseOtherMedia(request.headers);
      return input.withBody(request, reply, readDraftBody, async (change, folder) =>
        answerDraft(
          reply.code(201),
          await perform(
            request,
            createDraft,
            { change },
            (own, drafts, caller) =>
              drafts.createDraft({ ...own.change, authorKeyId: keyIdOf(caller) }, folder),
            folder,
          ),
        ),
      );
    },
  );

  app.get(
    listDrafts.path,
    {
      schema: {
        ...schemaOfOperation(listDrafts),
        querystring: ListQuery,
        response: {
          200: jsonResponse('One page.', DraftsSchema),
          ...errorResponses(...PAGE_ERRORS, 'invalid_uuid', 'unknown_account'),
        },
      },
    },
    async (request) => {
      const { thread_id: threadId, account_id: accountId, author } = request.query;
      const asked = {
        threadId: threadId?.toLowerCase() ?? null,
        accountId: accountId ?? null,
        author: author ?? null,
        ...toPageRequest(request.query),
      };
      const { drafts, nextCursor } = await perform(
        request,
        listDrafts,
        asked,
        (within, { listDrafts: list }) => list(within),
      );
      return { drafts: drafts.map(toSummaryJson), next_cursor: nextCursor };
    },
  );

  app.get(
    getDraft.path,
    {
      schema: {
        ...schemaOfOperation(getDraft),
        params: DraftParams,
        response: {
          200: jsonResponse('The draft as it is now.', DraftSchema, ETAG),
          ...errorResponses('invalid_uuid', 'invalid_credentials', 'draft_not_found', 'database_unavailable'),
        },
      },
    },
    async (request, reply) =>
      answerDraft(
        reply,
        await perform(request, getDraft, { id: request.params.id.toLowerCase() }, ({ id }, drafts) =>
          drafts.readDraft(id),
        ),
      ),
  );

  app.route({
    method: ['GET', 'HEAD'],
    url: getDraftAttachment.path,
    schema: {
      ...schemaOfOperation(getDraftAttachment),
      params: DraftFileParams,
      querystring: STORED_FILE_QUERY,
      headers: STORED_FILE_CONDITIONS,
      response: {
        ...STORED_FILE_RESPONSES,
        ...errorResponses('draft_file_not_found', ...STORED_FILE_ERRORS),
      },
    },
    handler: async (request, reply) => {
      const { id, attachmentId } = request.params;
      const asked = { id: id.toLowerCase(), attachmentId: attachmentId.toLowerCase() };
      const { file } = await perform(request, getDraftAttachment, asked, (own, drafts) =>
        drafts.readDraftFile(own.id, own.attachmentId),
      );
      return answerStoredFile(request, reply, context, file);
    },
  });

  app.patch(
    changeDraft.path,
    {
      validatorCompiler: () => () => true,
      schema: {
        ...schemaOfOperation(changeDraft),
        params: DraftParams,
        headers: {
          type: 'object',
          properties: ifMatch('Version to change, such as `"3"`.'),
          required: ['If-Match'],
        },
        body: DraftBody,
        response: {
          200: jsonResponse('The draft as it is now.', DraftSchema, ETAG),
          ...errorResponses(
            ...BODY_ERRORS,
            'draft_not_found',
            'draft_being_sent',
            'draft_changed',
            'version_required',
          ),
        },
      },
    },
    (request, reply) => {
      const id = readUuidParameter(request.params as object, 'id');
      refuseOtherMedia(request.headers);
      const version = requiredVersion(request.headers['if-match']);
      return input.withBody(request, reply, readDraftBody, async (change, folder) =>
        answerDraft(
          reply,
          await perform(
            request,
            changeDraft,
            { id, change },
            (own, drafts, caller) =>
              drafts.changeDraft(id, version, { ...own.change, authorKeyId: keyIdOf(caller) }, folder),
            folder,
          ),
        ),
      );
    },
  );

  app.delete(
    deleteDraft.path,
    {
      schema: {
        ...schemaOfOperation(deleteDraft),
        params: DraftParams,
        headers: { type: 'object', properties: ifMatch('Only this version. Absent: any version.') },
        response: {
          200: jsonResponse('Deleted.', Deleted),
          ...errorResponses(
            ...JSON_BODY_ERRORS,
            'invalid_uuid',
            'invalid_credentials',
            'draft_not_found',
            'draft_being_sent',
            'draft_changed',
            'version_required',
            ...DELETION_ERRORS,
            'database_unavailable',
          ),
        },
      },
      preValidation: optionalJsonBody(limits),
    },
    async (request) => {
      const id = request.params.id.toLowerCase();
      const version = wantedVersion(request.headers['if-match']);
      await perform(request, deleteDraft, { id }, (_, drafts, caller) =>
        drafts.deleteDraft(id, version, keyIdOf(caller)),
      );
      return { draft_id: id, deleted_at: clock().toISOString() };
    },
  );

  app.post(
    sendDraft.path,
    {
      schema: {
        ...schemaOfOperation(sendDraft),
        params: DraftParams,
        headers: {
          type: 'object',
          properties: {
            ...ifMatch('Only this version; required to repeat the request. Absent: any version.'),
            ...PreferHeader,
          },
        },
        body: DraftSendBody,
        response: {
          ...SEND_RESPONSES,
          ...errorResponses(
            ...SEND_ERRORS.filter((code) => !UNUSED_ERRORS.has(code)),
            ...JSON_BODY_ERRORS,
            'email_not_found',
            'content_missing',
            'draft_not_found',
            'draft_being_sent',
            'draft_changed',
            'version_required',
          ),
        },
      },
      preValidation: optionalJsonBody(limits),
    },
    async (request, reply) => {
      const respondAsync = prefersAsync(request.headers.prefer);
      const ifNewest = request.body.if_newest?.toLowerCase();
      const moment = { respondAsync, ...(ifNewest === undefined ? {} : { ifNewest }) };
      const asked = {
        id: request.params.id.toLowerCase(),
        version: wantedVersion(request.headers['if-match']),
        isGone: false,
      };
      const folder = spool.create();
      const { outcome, replayed } = await perform(
        request,
        sendDraft,
        asked,
        async ({ id, version, isGone }, application, caller) => {
          const read = (draft: Draft) =>
            readDraftSend(draft, limits, moment, askedBy(caller), () => requireRight(request, 'admin'));
          const result = await application.sendDraft({ id, version, read }, folder);
          if (isGone) await requireOwnReplay(result, caller, application);
          return result;
        },
        folder,
      );
      if (replayed) reply.header(REPLAYED_HEADER, 'true');
      return answerSend(reply, outcome, respondAsync);
    },
  );
}

/** A draft is its own idempotency key. */
const UNUSED_ERRORS: ReadonlySet<ErrorCode> = new Set([
  'invalid_idempotency_key',
  'idempotency_key_reused',
  'invalid_base64',
]);

function answerDraft(reply: { header(name: string, value: string): unknown }, draft: Draft): object {
  reply.header('etag', `"${draft.version}"`);
  return toDraftJson(draft);
}
