/** The objects of the API under short names, and the types of callers' input. Fields are named as in the API. */
import type { components, operations } from './generated/openapi.ts';

export type Schemas = components['schemas'];

/** A caller's input: undefined counts as absent, and lists may be read-only. */
export type Input<T> = {
  [Key in keyof T]: ReadonlyLists<T[Key]> | (undefined extends T[Key] ? undefined : never);
};
type ReadonlyLists<T> = T extends readonly (infer Item)[] ? readonly Item[] : T;

/** The query parameters of an operation. */
export type QueryOf<Name extends keyof operations> = NonNullable<operations[Name]['parameters']['query']>;
/** The filters of a list; `limit` is the size of a page. */
type Filter<Name extends keyof operations> = Input<QueryOf<Name>>;

export type Account = Schemas['Account'];
export type Address = Schemas['Address'];
export type AmbiguousClaim = Schemas['AmbiguousClaim'];
export type Attachment = Schemas['Attachment'];
export type AttachmentDetail = Schemas['AttachmentDetail'];
export type Authentication = Schemas['Authentication'];
export type AuthenticationVerdict = Schemas['AuthenticationVerdict'];
export type Verdict = Schemas['Verdict'];
export type RemovedContent = Schemas['RemovedContent'];
export type SafeHtml = Schemas['SafeHtml'];
export type ShownImage = Schemas['ShownImage'];
export type KnownAddress = Schemas['KnownAddress'];
export type Customer = Schemas['Customer'];
export type CustomerListing = Schemas['CustomerListing'];
export type CustomerRegistered = Schemas['CustomerRegistered'];
export type CustomerRegistration = Schemas['CustomerRegistration'];
export type DeletedDraft = Schemas['DeletedDraft'];
export type Draft = Schemas['Draft'];
export type DraftAttachment = Schemas['DraftAttachment'];
export type DraftSummary = Schemas['DraftSummary'];
export type Email = Schemas['Email'];
export type EmailDetail = Schemas['EmailDetail'];
export type EmailListing = Schemas['EmailListing'];
export type EmailState = Schemas['EmailState'];
export type Event = Schemas['Event'];
export type EventsPage = Schemas['Events'];
export type EventType = Schemas['EventType'];
export type ExplainedPlacement = Schemas['ExplainedPlacement'];
export type Folders = Schemas['Folders'];
export type HealthResult = Schemas['Health'];
export type AuditEntry = Schemas['AuditEntry'];
export type Key = Schemas['Key'];
export type Invitation = Schemas['Invitation'];
export type KeyAuthor = Schemas['KeyAuthor'];
export type Session = Schemas['Session'];
export type BrowserSession = Schemas['BrowserSession'];
export type KeyWithSecret = Schemas['KeyWithSecret'];
export type LiftedSuppression = Schemas['LiftedSuppression'];
export type NewEmail = Schemas['NewEmail'];
export type Problem = Schemas['Problem'];
export type QuarantinedMessage = Schemas['QuarantinedMessage'];
export type LeftOutMessage = Schemas['LeftOutMessage'];
export type LeftOutEmail = Schemas['LeftOutEmail'];
export type LeftOutCounts = Schemas['LeftOutCounts'];
export type StayingCounts = Schemas['StayingCounts'];
/** One page. */
export type CapturePreview = Schemas['CapturePreview'];
/** What of the mailboxes is recorded. */
export type AccountCapture = Schemas['AccountCapture'];
export type CaptureRemoval = Schemas['CaptureRemoval'];
export type Received = Schemas['Received'];
export type Recipient = Schemas['Recipient'];
export type RefusedMerge = Schemas['RefusedMerge'];
export type ReplyPreview = Schemas['ReplyPreview'];
export type BlockedSender = Schemas['BlockedSender'];
export type Rule = Schemas['Rule'];
export type RulePreview = Schemas['RulePreview'];
export type DeletedRule = Schemas['DeletedRule'];
export type SentCopy = Schemas['SentCopy'];
export type SendState = Schemas['SendState'];
export type SuggestedCounterparty = Schemas['SuggestedCounterparty'];
export type Suppression = Schemas['Suppression'];
export type DeletedTemplate = Schemas['DeletedTemplate'];
export type Import = Schemas['Import'];
export type Statistics = Schemas['Statistics'];
export type StatisticsPoint = Schemas['StatisticsPoint'];
export type Template = Schemas['Template'];
export type TemplateSummary = Schemas['TemplateSummary'];
export type TemplatePreview = Schemas['TemplatePreview'];
export type Unsubscribe = Schemas['Unsubscribe'];
export type Thread = Schemas['Thread'];
export type ThreadDecision = Schemas['ThreadDecision'];
export type ThreadEmail = Schemas['ThreadEmail'];
export type AssigneeOption = Schemas['AssigneeOption'];
export type ThreadMark = Schemas['ThreadMark'];
export type ThreadPage = Schemas['ThreadPage'];
export type ThreadRecord = Schemas['ThreadRecord'];
export type ThreadSummary = Schemas['ThreadSummary'];
export type Upload = Schemas['Upload'];
export type VariantDetail = Schemas['VariantDetail'];

export type Webhook = Schemas['Webhook'];
export type WebhookDelivery = Schemas['WebhookDelivery'];
export type WebhookWithSecret = Schemas['WebhookWithSecret'];
export type Erasure = Schemas['Erasure'];
export type CheckedSend = Schemas['CheckedSend'];
export type CheckedErasure = Schemas['CheckedErasure'];
export type ErasureRequest = Schemas['ErasureRequest'];
export type Retention = Schemas['Retention'];
export type RetentionConfirmation = Input<Schemas['RetentionConfirmation']>;
export type Clock = Schemas['Clock'];
export type DeletedEmails = Schemas['DeletedEmails'];
export type DeletedWebhook = Schemas['DeletedWebhook'];
/** A link for the owner of the mailboxes of an account. */
export type AccountAddress = Schemas['AccountAddress'];
export type AccountConsent = Schemas['AccountConsent'];
export type DeletedAccount = Schemas['DeletedAccount'];
export type AccountCheck = Schemas['AccountCheck'];
export type FoundFolder = Schemas['FoundFolder'];
/** Servers of a mailbox that were found for its address. */
export type FoundSettings = Schemas['FoundSettings'];
export type FoundServers = Schemas['FoundServers'];
export type FoundOAuth2 = Schemas['FoundOAuth2'];
export type AccountSettings = Schemas['AccountSettings'];
export type AccountRequest = Input<Schemas['CreateAccountRequest']>;
export type AccountChange = Input<Schemas['ChangeAccountRequest']>;
export type AccountCreation = Filter<'createAccount'>;

export type ThreadFilter = Filter<'listThreads'>;
/** Threads to act on: at most 100 by their ids, or a page of those that filters find. */
export type ThreadSelection =
  { readonly ids: readonly string[] } | (ThreadFilter & { readonly ids?: undefined });
export type EmailFilter = Filter<'listEmails'>;
export type DraftFilter = Filter<'listDrafts'>;
export type EventFilter = Filter<'listEvents'>;
export type StreamFilter = Omit<EventFilter, 'wait' | 'limit'>;
export type ReplyPreviewOptions = Filter<'previewReply'>;
export type SuppressionFilter = Filter<'listSuppressions'>;
export type TemplateFilter = Filter<'listTemplates'>;
export type TemplateRequest = Input<Schemas['TemplateRequest']>;
export type TemplateChange = Input<Schemas['TemplateChange']>;
export type TemplatePreviewRequest = Input<Schemas['TemplatePreviewRequest']>;
export type BlockRequest = Input<Schemas['BlockRequest']>;
export type BlockedSenderFilter = Filter<'listBlockedSenders'>;
export type RuleRequest = Input<Schemas['RuleRequest']>;
export type RuleChange = Input<Schemas['RuleChange']>;
export type RulePreviewRequest = Input<Schemas['RulePreviewRequest']>;
export type UnsubscribeFilter = Filter<'listUnsubscribes'>;
export type AccountFilter = Filter<'listQuarantine'>;
export type AmbiguousEmailFilter = Filter<'listAmbiguousEmails'>;
export type AuditFilter = Filter<'listAudit'>;
export type PageFilter = Filter<'listAmbiguousClaims'>;
export type DeliveryFilter = Filter<'listWebhookDeliveries'>;
export type AddressFilter = Filter<'completeAddresses'>;
export type CustomerFilter = Filter<'listCustomers'>;
type Moments = 'since' | 'until';
export type CustomerEmailFilter = Omit<Filter<'listCustomerEmails'>, Moments> & {
  readonly [Name in Moments]?: string | Date | undefined;
};

export type ImportFilter = Filter<'listImports'>;
export type StatisticsFilter = Filter<'getStatistics'>;
export type AssigneeFilter = Filter<'listAssignees'>;
export type FolderFilter = Filter<'countFolders'>;
export type ThreadPageFilter = Filter<'getThreadPage'>;
export type ThreadsChange = Input<Schemas['ThreadsChange']>;
export type ThreadResults = Schemas['ThreadResults'];
export type ThreadChange = Input<Schemas['ThreadChange']>;
export type SplitRequest = Input<Schemas['SplitRequest']>;
export type MergeRequest = Input<Schemas['MergeRequest']>;
export type MoveRequest = Input<Schemas['MoveRequest']>;
export type ResolveRequest = Input<Schemas['ResolveRequest']>;
export type SuppressRequest = Input<Schemas['SuppressRequest']>;
export type CustomerRegistrationRequest = Input<Schemas['CustomerRegistrationRequest']>;
export type CreateWebhookRequest = Input<Schemas['CreateWebhookRequest']>;
export type ChangeWebhookRequest = Input<Schemas['ChangeWebhookRequest']>;
export type RotateSecretRequest = Input<Schemas['RotateSecretRequest']>;
export type CreateKeyRequest = Omit<Input<Schemas['KeyRequest']>, 'expires_at'> & {
  readonly expires_at?: string | Date | null | undefined;
};
export type LoginRequest = Input<Schemas['LoginRequest']>;
export type ChangeKeyRequest = Input<Schemas['ChangeKeyRequest']>;
export type RotateKeyRequest = Input<Schemas['RotateKeyRequest']>;
/** Starts after an event, or at a moment. */
export type ReplayRequest = { readonly after: string } | { readonly since: string | Date };
export type ReceiveDetails = Filter<'receiveEmail'>;

/** A `File`, or an object with its fields. */
export interface NamedBlob extends Blob {
  readonly name: string;
}

/** Details of an upload. */
export interface UploadDetails extends Filter<'createUpload'> {
  /** MIME type. Default: that of a `Blob`, else `application/octet-stream`. */
  readonly content_type?: string | undefined;
}

/** A `File` as it is, a file that the service already has, or the fields of an attachment; a text in `content` is Base64. */
export type AttachmentSource =
  | NamedBlob
  | {
      readonly filename: string;
      readonly content: string | Uint8Array | ArrayBuffer | Blob;
      /** MIME type. Default: that of a `Blob`, else `application/octet-stream`. */
      readonly content_type?: string | null | undefined;
      /** For an image that the HTML shows by `cid:…`. */
      readonly content_id?: string | null | undefined;
    }
  | ReferencedFile;

/** An upload, or an attachment of a recorded email. */
export type ReferencedFile = {
  readonly filename?: string | null | undefined;
  readonly content_type?: string | null | undefined;
  readonly content_id?: string | null | undefined;
} & ({ readonly upload_id: string } | { readonly attachment_id: string });

// The member of the union, made from JSON schema's `anyOf`, that has the fields.
type SendFields = Input<Extract<Schemas['SendRequest'], { to: unknown }>>;

/** The content of an email; a template supplies the parts that are not given. */
type Says<Subject = unknown> =
  | ({ readonly text_body: string } & Subject)
  | ({ readonly html_body: string } & Subject)
  | { readonly template_id: string };

/** An email to send. It needs a subject and at least one of `text_body` and `html_body`, or a `template_id`. */
export type SendMessage = Omit<SendFields, 'send_at' | 'attachments'> & {
  /** When to send it, at most a year ahead; a text is RFC 3339 with offset. The result is `queued`. */
  readonly send_at?: string | Date | null | undefined;
  readonly attachments?: readonly AttachmentSource[] | null | undefined;
} & Says<{ readonly subject: string }>;

type Overrides = 'to' | 'cc' | 'subject' | 'text_body' | 'html_body';
/** The fields of a send that a reply has; the answered email decides the rest. */
type AnswerFields = Omit<SendMessage, Overrides | 'in_reply_to' | 'thread_id' | 'account_id'> & {
  /** Quotes the email below the new text. Default true. */
  readonly quote?: boolean | null | undefined;
  /** The language of the line above the quote. Default `de`. */
  readonly language?: Schemas['ReplyLanguage'] | null | undefined;
  /** IANA name, such as `Europe/Berlin`. Default `UTC`. */
  readonly time_zone?: string | null | undefined;
  readonly cc?: string | readonly string[] | null | undefined;
  readonly subject?: string | null | undefined;
  readonly text_body?: string | null | undefined;
  readonly html_body?: string | null | undefined;
};

/**
 * A reply. It needs at least one of `text_body`, `html_body` and `template_id`; `to`, `cc` and `subject` are those of the email unless
 * given.
 */
export type ReplyMessage = AnswerFields & {
  readonly to?: string | readonly string[] | null | undefined;
} & Says;

export type ForwardMessage = AnswerFields & {
  readonly to: string | readonly string[];
  /** Includes all files of the email. Default true. */
  readonly with_files?: boolean | null | undefined;
};

/** The answer to an invitation; its text is made from it. */
export type InvitationAnswer = Input<Omit<Schemas['InvitationAnswerRequest'], 'send_at'>> & {
  readonly send_at?: string | Date | null | undefined;
  readonly attachments?: never;
};

/** The changes to a waiting send; attachments are replaced as a whole. */
export type SendChange = Input<Omit<Schemas['SendChangeRequest'], 'attachments' | 'send_at'>> & {
  /** `now`, a moment, or its text. */
  readonly send_at?: string | Date | undefined;
  readonly attachments?: readonly AttachmentSource[] | null | undefined;
};

/** The content of a draft so far; every field may be absent. The draft keeps only those of its files that are named by `id`. */
export type DraftRequest = Input<Omit<Schemas['DraftRequest'], 'attachments'>> & {
  readonly attachments?: readonly (AttachmentSource | { readonly id: string })[] | null | undefined;
};

/** The parts that the service depends on: each is `ok` or `away`. */
export interface Readiness {
  readonly ready: boolean;
  /** Empty while the service is stopping. */
  readonly checks: Schemas['Checks'];
}

interface SendCommon {
  /** True if this is the answer to an earlier request with the same key: this request did nothing. */
  readonly replayed: boolean;
  /** The key that was sent; null: no key. */
  readonly idempotencyKey: string | null;
}

/**
 * - `sent`: the mail server took it for at least one recipient, and it is stored.
 * - `queued`: stored, and will be sent from the queue.
 * - `partial`: sent, but not stored yet; the service stores it later by itself.
 */
export type SendResult = (Schemas['Sent'] | Schemas['Queued'] | Schemas['Partial']) & SendCommon;

/** The outcome of one email of a batch: the result that `send` would have returned, or `status: 'error'` with its `code`. */
export type BatchElementResult = Exclude<Schemas['BatchAnswer']['results'][number], Schemas['BatchChecked']>;

/** What would become of one email of a batch. */
export type CheckedElement = Schemas['BatchChecked'] | Schemas['BatchError'];

/** One result for each email, in order. `replayed`: nothing was sent now; these are the results of an earlier request. */
export interface BatchResult extends SendCommon {
  readonly results: readonly BatchElementResult[];
}
