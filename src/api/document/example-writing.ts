/** Example values for writing: sends, templates, drafts and replies. As in example-values.ts. */
import { ServiceError } from '../../core/errors.ts';
import { toErrorJson } from '../../platform/http/answers/error-json.ts';
import { ANN, DRAFT, EMAIL, LATER, REPLY, SENT_AT, TEMPLATE, THREAD } from './example-story.ts';

const SEND = {
  to: 'Ann Example <ann@example.com>, bob@example.com',
  subject: 'Ihr Angebot',
  text_body: 'Guten Tag, anbei unser Angebot.',
  tags: ['angebot'],
  metadata: { order_id: 4711 },
  attachments: [{ filename: 'angebot.txt', content: 'SGFsbG8=', content_type: 'text/plain' }],
};

const { request_id: _ofRequest, ...REFUSED } = toErrorJson(
  new ServiceError('invalid_address', { values: { field: 'to', value: 'ann@' } }),
  { id: '', schema: { body: {} } },
);

export const WRITING_VALUES: Readonly<Record<string, unknown>> = {
  // Templates
  'Template.id': TEMPLATE,
  'Template.subject': 'Ihr Angebot {{ angebot.nummer }}',
  'Template.text_body': 'Guten Tag {{ name }},\n\nanbei unser Angebot.',
  'TemplateSummary.id': TEMPLATE,
  'TemplateSummary.subject': 'Ihr Angebot {{ angebot.nummer }}',
  'Template.name': 'Angebot',
  'TemplateSummary.name': 'Angebot',
  'Template.variables': ['angebot.nummer', 'name'],
  'TemplatePreview.subject': 'Ihr Angebot 4711',
  'TemplatePreview.text_body': 'Guten Tag Ann,\n\nanbei unser Angebot.',
  template_id: TEMPLATE,
  template_version: null,
  latest_version: 2,
  'createTemplate.version': 1,
  'createTemplate.latest_version': 1,
  'createTemplate.updated_at': SENT_AT,
  'changeTemplate.version': 3,
  'changeTemplate.latest_version': 3,
  'changeTemplate.subject': 'Unser Angebot {{ angebot.nummer }}',
  TemplateRequest: {
    name: 'Angebot',
    subject: 'Ihr Angebot {{ angebot.nummer }}',
    text_body: 'Guten Tag {{ name }},\n\nanbei unser Angebot.',
  },
  TemplateChange: { subject: 'Unser Angebot {{ angebot.nummer }}' },
  TemplatePreviewRequest: { variables: { name: 'Ann', angebot: { nummer: 4711 } } },

  // Drafts
  'Draft.id': DRAFT,
  'DraftSummary.id': DRAFT,
  draft_id: DRAFT,
  version: 2,
  'createDraft.version': 1,
  'createDraft.updated_at': SENT_AT,
  DraftAuthor: 'eva',
  'Draft.created_by': { id: '4r8gk2m0vqxz', name: 'CRM' },
  'DraftSummary.created_by': null,
  'DraftRequest.author': 'eva',
  being_sent: false,
  'Draft.answers': {
    email_id: REPLY,
    kind: 'reply',
    quote: true,
    with_files: null,
    language: 'de',
    time_zone: 'Europe/Berlin',
  },
  'DraftSummary.answers': null,
  'DraftSummary.to': 'Ann Example <ann@example.com>',
  file_count: 0,
  'Draft.message': { text_body: 'Vielen Dank!' },
  DraftRequest: {
    author: 'eva',
    answers: { email_id: REPLY, time_zone: 'Europe/Berlin' },
    message: { text_body: 'Vielen Dank!' },
  },

  // Replies
  'ReplyPreview.email_id': REPLY,
  'ReplyPreview.kind': 'reply',
  'previewReply.kind': 'reply',
  language: 'de',
  time_zone: 'Europe/Berlin',
  'ReplyPreview.to': [ANN],
  cc: [],
  'ReplyPreview.subject': 'Re: Ihr Angebot',
  'ReplyPreview.in_reply_to': '<reply-1@example.com>',
  'ReplyPreview.attachments': [],
  quote_text: 'Am 31.01.2026 um 13:00 (MEZ) schrieb Ann Example <ann@example.com>:\n\n> Gerne!',
  quote_html:
    '<div>Am 31.01.2026 um 13:00 (MEZ) schrieb Ann Example &lt;ann@example.com&gt;:</div><blockquote type="cite">Gerne!</blockquote>',

  // Requests
  LoginRequest: { secret: 'ewk_0123456789ab_q1bR3c5kQmM8o0uU3bY2f7h9d1e4g6i8j0k2l4n6p8s' },
  ReplyRequest: { text_body: 'Vielen Dank!', time_zone: 'Europe/Berlin' },
  InvitationAnswerRequest: { answer: 'accepted', comment: 'Wir freuen uns.' },
  ForwardRequest: {
    to: 'einkauf@example.org, lager@example.org',
    text_body: 'Zur Kenntnis.',
    time_zone: 'Europe/Berlin',
  },
  SendChangeRequest: {
    send_at: LATER,
    subject: 'Ihr Angebot, berichtigt',
    text_body: 'Guten Tag, anbei das berichtigte Angebot.',
  },
  'changeSend.subject': 'Ihr Angebot, berichtigt',
  'changeSend.text_body': 'Guten Tag, anbei das berichtigte Angebot.',
  'changeSend.EmailDetail.state': 'queued',
  'changeSend.next_attempt_at': LATER,
  'changeSend.give_up_at': '2026-02-05T12:00:00.000Z',
  'changeSend.send_version': 2,
  'changeSend.Recipient.state': 'pending',
  'changeSend.reply': null,
  'changeSend.attempts': [],
  SendRequest: SEND,
  'sendBatch.emails': [SEND, { ...SEND, to: 'ann@' }],
  CustomerRegistrationRequest: {
    addresses: ['ann@example.com'],
    domains: ['*.example.com'],
    company_id: null,
    name: 'Example GmbH',
  },
  'sendBatch.results': [
    { status: 'queued', id: EMAIL, messageId: '<angebot-1@example.org>', threadId: THREAD, http_status: 202 },
    {
      status: 'error',
      http_status: 400,
      ...REFUSED,
    },
  ],
};
