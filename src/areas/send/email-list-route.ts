/** The progress of emails: GET /api/emails. */
import type { XStatic } from 'typebox/schema';
import { LISTED_DEFECTS, type EmailFilter } from '../emails/email-ports.ts';
import { MAX_LIST_ID_CHARS, parseListId } from '../../core/message/list-id.ts';
import { MAX_MESSAGE_ID_OCTETS } from '../../core/message/limits.ts';
import { normaliseMessageId, parseMessageId, type MessageId } from '../../core/message/message-id.ts';
import { ServiceError } from '../../core/errors.ts';
import type { HttpContext, HttpServer } from '../../platform/http/answers/context.ts';
import { routedWith } from '../../platform/operation/declaration.ts';
import type { EmailUseCases, EmailsRequest } from '../emails/use-cases.ts';
import { schemaOfOperation } from '../../platform/http/operations/operation-schema.ts';
import type { EmailsPage } from '../../platform/db/emails-json.ts';
import {
  AccountId,
  PAGE_PARAMETERS,
  SEARCH_PART_PARAMETERS,
  SearchQuery,
  toPageRequest,
  toSearchParts,
  PAGE_ERRORS,
} from '../../platform/schemas/page-schemas.ts';
import { EmailListings } from '../emails/email-schemas.ts';
import { State } from '../../platform/schemas/state-schema.ts';
import { errorResponses } from '../../platform/schemas/error-schemas.ts';
import { ThreadLabel } from '../../platform/schemas/thread-schemas.ts';
import { Direction, jsonResponse, Moment, toMoment, Uuid } from '../../platform/schemas/schemas.ts';

const routed = routedWith<EmailUseCases>();

const EmailsQuerySchema = {
  type: 'object',
  // A misspelt filter must not return emails that it was meant to exclude.
  additionalProperties: false,
  properties: {
    q: { ...SearchQuery, description: 'Only emails that match all its words.' },
    ...SEARCH_PART_PARAMETERS,
    state: { ...State, description: 'Only emails in this state.' },
    defect: {
      type: 'string',
      enum: LISTED_DEFECTS,
      description:
        '`not_parsed`: only received emails that could not be parsed, so that only their bytes are stored; the command `reparse` ' +
        'reads them again.',
    },
    tag: {
      type: 'string',
      minLength: 1,
      maxLength: 256,
      description: 'Only emails that were sent with this tag.',
    },
    thread_id: { ...Uuid, description: 'Only emails of this thread, or of the one it was merged into.' },
    customer_id: { ...Uuid, description: 'Only emails of this customer.' },
    company_id: { ...Uuid, description: 'Only emails of this company.' },
    direction: { ...Direction, description: 'Only this direction.' },
    bounced: {
      type: 'boolean',
      description: 'Only emails that bounced for a recipient, or only the others.',
    },
    has_files: {
      type: 'boolean',
      description: 'Only emails with attached files (not images of the HTML), or only those without.',
    },
    list_id: {
      type: 'string',
      minLength: 1,
      maxLength: MAX_LIST_ID_CHARS + 2,
      description: 'Only emails of this mailing list; the List-Id is case-insensitive.',
    },
    message_id: {
      type: 'string',
      minLength: 1,
      maxLength: MAX_MESSAGE_ID_OCTETS + 2,
      description: 'Only emails with this Message-ID, their own or the one that a mail server gave them.',
    },
    label: { ...ThreadLabel, description: 'Only emails of threads with this label.' },
    recorded_since: { ...Moment, description: 'Only emails recorded at or after this time.' },
    scheduled_since: {
      ...Moment,
      description: 'Only emails whose next attempt is at or after this time.',
    },
    scheduled_until: {
      ...Moment,
      description: 'Only emails whose next attempt is before this time.',
    },
    account_id: { ...AccountId, description: 'Only of this account.' },
    ...PAGE_PARAMETERS,
  },
} as const;

type EmailsParameters = XStatic<typeof EmailsQuerySchema>;

/** Undefined when no filter is given. */
function toFilter(query: EmailsParameters): EmailFilter | undefined {
  const moment = (field: 'recorded_since' | 'scheduled_since' | 'scheduled_until') => {
    const text = query[field];
    return text === undefined ? null : toMoment(field, text);
  };
  const filter: EmailFilter = {
    threadId: query.thread_id?.toLowerCase() ?? null,
    customerId: query.customer_id?.toLowerCase() ?? null,
    companyId: query.company_id?.toLowerCase() ?? null,
    direction: query.direction ?? null,
    bounced: query.bounced ?? null,
    hasFiles: query.has_files ?? null,
    listId: query.list_id === undefined ? null : (parseListId(query.list_id) ?? query.list_id),
    messageId: toAskedMessageId(query.message_id),
    label: query.label ?? null,
    recordedSince: moment('recorded_since'),
    scheduledSince: moment('scheduled_since'),
    scheduledUntil: moment('scheduled_until'),
  };
  return Object.values(filter).every((value) => value === null) ? undefined : filter;
}

/** Throws `invalid_message_id`. */
function toAskedMessageId(text: string | undefined): MessageId | null {
  if (text === undefined) return null;
  const messageId = parseMessageId(text);
  if (messageId === null) throw new ServiceError('invalid_message_id', { values: { field: 'message_id' } });
  return normaliseMessageId(messageId);
}

const listEmails = routed<EmailsRequest, EmailsPage>()({
  id: 'listEmails',
  method: 'GET',
  path: '/api/emails',
  right: 'read',
  tag: 'Emails',
  summary: 'List or search emails',
  description: 'All threads, newest first.',
  account: 'list',
});

export function registerEmailListRoute(
  app: HttpServer,
  { perform, sendEmailPage }: HttpContext<EmailUseCases>,
): void {
  app.get(
    listEmails.path,
    {
      schema: {
        ...schemaOfOperation(listEmails),
        querystring: EmailsQuerySchema,
        response: {
          200: jsonResponse('One page.', EmailListings),
          ...errorResponses(
            ...PAGE_ERRORS,
            'invalid_uuid',
            'invalid_tag',
            'invalid_message_id',
            'unknown_account',
            'busy',
          ),
        },
      },
    },
    async (request, reply) => {
      const { q, state, defect, tag, account_id: accountId } = request.query;
      const filter = toFilter(request.query);
      const asked = {
        q: q ?? null,
        searchIn: toSearchParts(request.query),
        state: state ?? null,
        defect: defect ?? null,
        tag: tag ?? null,
        accountId: accountId ?? null,
        ...(filter === undefined ? {} : { filter }),
        ...toPageRequest(request.query),
      };
      const page = await perform(request, listEmails, asked, (within, emails) => emails.listEmails(within));
      return sendEmailPage(reply, page);
    },
  );
}
