/**
 * Writes the acts of operators to the security log: the actor, the act, and the state before and after it. A refused act
 * is logged with the code of its refusal. The state before is read separately, right before the act; another request may
 * change it in between.
 */
import type { Author } from '../core/keys/author.ts';
import type { Logger } from './base/basics.ts';
import { preparing, ServiceError } from '../core/errors.ts';
import type { Application } from './application.ts';
import type { AuditLog } from './audit/audit-ports.ts';
import {
  changedFields,
  hostOf,
  targetOf,
  toAuditDetails,
  toClockFields,
  toDecisionFields,
  toEmailFields,
  toKeyFields,
  toRegistrationFields,
  toSuppressionFields,
  toTemplateFields,
  toWebhookFields,
  type Fields,
} from './audited-fields.ts';
import type { Erased, Erasure } from './erase/erasure-ports.ts';
import type { PersonRequest } from './erase/erase-people.ts';
import type { SecurityEvent, SecurityLog } from './base/security-log.ts';
import type { WebhookView } from './webhooks/use-cases.ts';

/** The person or program that acts, as an edge identifies it. */
export interface HttpActor {
  readonly by: 'http';
  /** See core/edge/address-group.ts. */
  readonly address: string;
  /** The number of the secret of `API_SECRET` that was used, from 1; absent for a key. */
  readonly credential?: number;
  readonly key?: Author;
}

/** The acts of operators, with the fields that their actor adds. */
export type Operations = {
  /** In the name of the actor whose request it is. */
  requestErasure(request: Omit<PersonRequest, 'requestedBy'>): Promise<Erasure>;
  checkErasure(request: Omit<PersonRequest, 'requestedBy'>): Promise<Erased>;
} & Pick<
  Application,
  | 'deleteEmail'
  | 'deleteThread'
  | 'confirmRetention'
  | 'confirmClock'
  | 'changeSend'
  | 'cancelSend'
  | 'retrySend'
  | 'resolveSend'
  | 'retrySentCopy'
  | 'suppress'
  | 'liftSuppression'
  | 'removeUnsubscribe'
  | 'registerCustomer'
  | 'changeCustomerAddress'
  | 'changeThread'
  | 'splitThread'
  | 'mergeThreads'
  | 'moveEmails'
  | 'retryQuarantined'
  | 'createWebhook'
  | 'changeWebhook'
  | 'deleteWebhook'
  | 'pauseWebhook'
  | 'resumeWebhook'
  | 'replayWebhook'
  | 'rotateWebhookSecret'
  | 'testWebhook'
  | 'createTemplate'
  | 'changeTemplate'
  | 'deleteTemplate'
  | 'createKey'
  | 'changeKey'
  | 'revokeKey'
  | 'rotateKey'
>;

/** Emails whose thread is looked up before they are moved; each is read whole. */
const MAX_LOCATED = 20;

export interface AuditPorts {
  readonly security: SecurityLog;
  readonly log: Pick<AuditLog, 'begin' | 'end'>;
  readonly logger: Logger;
}

/**
 * The same operations, logged as acts of this actor. An act whose entry can't be written to the audit log is not carried
 * out; one whose outcome can't be written stays there as unknown.
 */
export function auditOperations(
  application: Application,
  { security, log, logger }: AuditPorts,
  actor: HttpActor,
): Operations {
  const author = actor.key ?? { kind: 'secret', number: actor.credential ?? 0 };

  async function note(position: string, code: string | null, result: unknown): Promise<void> {
    try {
      await log.end(position, code, toAuditDetails(Object(result) as Fields));
    } catch (err) {
      logger.error({ err, position, code }, 'the outcome of an action could not be written to the audit log');
    }
  }

  async function act<T>(
    event: SecurityEvent,
    what: Fields,
    {
      before,
      work,
      after,
    }: { before?: () => Promise<unknown>; work: () => Promise<T>; after: (result: T) => unknown },
  ): Promise<T> {
    const was = before === undefined ? {} : { before: await unlessRefused(before) };
    const fields = { actor, ...what, ...was };
    const details = toAuditDetails(what);
    const position = await preparing(log.begin({ author, act: event, ...targetOf(what), details }));
    let result: T;
    try {
      result = await work();
    } catch (error) {
      const code = error instanceof ServiceError ? error.code : 'internal_error';
      if (error instanceof ServiceError) security.note(event, { ...fields, refused: code });
      await note(position, code, {});
      throw error;
    }
    const is = after(result);
    security.note(event, { ...fields, after: is });
    await note(position, null, typeof is === 'string' ? { state: is } : is);
    return result;
  }

  const sendState = (id: string) => async () => (await application.readEmail(id)).state;
  const asIs = <T>(result: T): T => result;
  const webhookBefore = (id: string) => async () => toWebhookFields(await application.readWebhook(id));
  const actOnWebhook = (
    event: SecurityEvent,
    id: string,
    work: () => Promise<WebhookView>,
    what: Fields = {},
  ) => act(event, { webhookId: id, ...what }, { before: webhookBefore(id), work, after: toWebhookFields });

  return {
    requestErasure: (request) =>
      // The address is not logged: it would stay in the log.
      act(
        'erasure.requested',
        { customerId: request.customerId },
        {
          work: () => application.requestErasure({ ...request, requestedBy: nameOf(actor) }),
          after: ({ id }) => ({ erasureId: id }),
        },
      ),
    // A dry run is no act.
    checkErasure: (request) => application.checkErasure({ ...request, requestedBy: nameOf(actor) }),
    deleteEmail: (id) =>
      act('email.deleted', { emailId: id }, { work: () => application.deleteEmail(id), after: () => null }),
    deleteThread: (id) =>
      act(
        'thread.deleted',
        { threadId: id },
        { work: () => application.deleteThread(id), after: (emails) => ({ emails }) },
      ),
    confirmRetention: (request) =>
      // A dry run is no act.
      request.dryRun
        ? application.confirmRetention(request)
        : act(
            'retention.confirmed',
            { emails: request.emails },
            {
              work: () => application.confirmRetention(request),
              after: ({ confirmed, confirmedUntil }) => ({ confirmed, confirmedUntil }),
            },
          ),
    confirmClock: () =>
      act(
        'clock.confirmed',
        {},
        {
          before: async () => toClockFields(await application.readClock()),
          work: () => application.confirmClock(),
          after: toClockFields,
        },
      ),
    async changeSend(id, version, change, folder) {
      try {
        return await act(
          'send.changed',
          { emailId: id, version, fields: Object.keys(change) },
          {
            work: () => application.changeSend(id, version, change, folder),
            after: ({ sendVersion, nextAttemptAt }) => ({ version: sendVersion, sendAt: nextAttemptAt }),
          },
        );
      } finally {
        // Also when the act was not begun.
        await folder.remove();
      }
    },
    cancelSend: (id) =>
      act(
        'send.cancelled',
        { emailId: id },
        {
          before: sendState(id),
          work: () => application.cancelSend(id),
          after: asIs,
        },
      ),
    retrySend: (id) =>
      act(
        'send.retried',
        { emailId: id },
        {
          before: sendState(id),
          work: () => application.retrySend(id),
          after: asIs,
        },
      ),
    resolveSend: (id, outcome) =>
      act(
        'send.resolved',
        { emailId: id, outcome },
        {
          before: sendState(id),
          work: () => application.resolveSend(id, outcome),
          after: asIs,
        },
      ),
    retrySentCopy: (id) =>
      act(
        'sent_copy.retried',
        { emailId: id },
        {
          before: async () => (await application.readEmail(id)).sentCopy?.state ?? null,
          work: () => application.retrySentCopy(id),
          after: ({ state }) => state,
        },
      ),
    suppress: (address, note) =>
      act(
        'suppression.set',
        { address },
        {
          before: async () => toSuppressionFields(await application.readSuppression(address)),
          work: () => application.suppress(address, note),
          after: toSuppressionFields,
        },
      ),
    liftSuppression: (address) =>
      act(
        'suppression.lifted',
        { address },
        {
          before: async () => toSuppressionFields(await application.readSuppression(address)),
          work: () => application.liftSuppression(address),
          after: () => null,
        },
      ),
    removeUnsubscribe: (id) =>
      act(
        'unsubscribe.removed',
        { unsubscribeId: id },
        {
          work: () => application.removeUnsubscribe(id),
          after: ({ accountId, list, address }) => ({ accountId, list, address }),
        },
      ),
    registerCustomer: (request) =>
      act(
        'customer.registered',
        { customerId: request.customerId },
        {
          before: async () =>
            toRegistrationFields(await application.readCustomerRegistration(request.customerId)),
          work: () => application.registerCustomer(request),
          after: ({ registration, relinked }) => ({ ...toRegistrationFields(registration), relinked }),
        },
      ),
    changeCustomerAddress: (request) =>
      act(
        'customer.registered',
        { customerId: request.customerId },
        {
          before: async () =>
            toRegistrationFields(await application.readCustomerRegistration(request.customerId)),
          work: () => application.changeCustomerAddress(request),
          after: ({ registration, relinked }) => ({ ...toRegistrationFields(registration), relinked }),
        },
      ),
    changeThread: (threadId, change) =>
      act(
        'thread.changed',
        { threadId, fields: changedFields(change) },
        {
          work: () => application.changeThread(threadId, change),
          after: ({ id, version, status, assignee, labels, customerId, companyId }) => ({
            id,
            version,
            status,
            assignee,
            labels,
            customerId,
            companyId,
          }),
        },
      ),
    splitThread: (request) =>
      act(
        'thread.split',
        { threadId: request.threadId, ...toEmailFields(request) },
        {
          work: () => application.splitThread(request),
          after: toDecisionFields,
        },
      ),
    mergeThreads: (request) =>
      act(
        'thread.merged',
        { threadId: request.threadId, otherThreadId: request.otherThreadId },
        {
          work: () => application.mergeThreads(request),
          after: toDecisionFields,
        },
      ),
    moveEmails: (request) =>
      act(
        'thread.emails_moved',
        { threadId: request.threadId, ...toEmailFields(request) },
        {
          before: () => threadsOf(application, request.emailIds),
          work: () => application.moveEmails(request),
          after: toDecisionFields,
        },
      ),
    retryQuarantined: (id) =>
      act(
        'quarantine.retried',
        { quarantinedId: id },
        {
          work: () => application.retryQuarantined(id),
          after: ({ accountId, path, uid, nextTryAt }) => ({ accountId, path, uid, nextTryAt }),
        },
      ),
    createWebhook: (request) =>
      act(
        'webhook.created',
        { host: hostOf(request.url) },
        {
          work: () => application.createWebhook(request),
          after: ({ webhook }) => toWebhookFields(webhook),
        },
      ),
    changeWebhook: (id, change) =>
      actOnWebhook('webhook.changed', id, () => application.changeWebhook(id, change), {
        fields: Object.keys(change),
      }),
    deleteWebhook: (id) =>
      act(
        'webhook.deleted',
        { webhookId: id },
        {
          before: webhookBefore(id),
          work: () => application.deleteWebhook(id),
          after: () => null,
        },
      ),
    pauseWebhook: (id) => actOnWebhook('webhook.paused', id, () => application.pauseWebhook(id)),
    resumeWebhook: (id) => actOnWebhook('webhook.resumed', id, () => application.resumeWebhook(id)),
    replayWebhook: (id, start) =>
      actOnWebhook('webhook.replayed', id, () => application.replayWebhook(id, start), { start }),
    rotateWebhookSecret: (id, oldValidMs) =>
      act(
        'webhook.secret_rotated',
        { webhookId: id },
        {
          work: () => application.rotateWebhookSecret(id, oldValidMs),
          after: ({ webhook }) => ({ oldSecretUntil: webhook.oldSecretUntil }),
        },
      ),
    testWebhook: (id, signal) =>
      act(
        'webhook.tested',
        { webhookId: id },
        {
          work: () => application.testWebhook(id, signal),
          after: ({ outcome, status }) => ({ outcome, status }),
        },
      ),
    createTemplate: (template) =>
      act(
        'template.created',
        { name: template.name },
        { work: () => application.createTemplate(template), after: toTemplateFields },
      ),
    changeTemplate: (id, version, change) =>
      act(
        'template.changed',
        { templateId: id, version, fields: Object.keys(change) },
        { work: () => application.changeTemplate(id, version, change), after: toTemplateFields },
      ),
    deleteTemplate: (id, version) =>
      act(
        'template.deleted',
        { templateId: id, version },
        { work: () => application.deleteTemplate(id, version), after: () => null },
      ),
    createKey: (caller, request) =>
      act(
        'key.created',
        { name: request.name },
        {
          work: () => application.createKey(caller, request),
          after: ({ key }) => toKeyFields(key),
        },
      ),
    changeKey: (caller, id, change) =>
      act(
        'key.changed',
        { keyId: id, fields: Object.keys(change) },
        {
          before: async () => toKeyFields(await application.readKey(caller, id)),
          work: () => application.changeKey(caller, id, change),
          after: toKeyFields,
        },
      ),
    revokeKey: (caller, id) =>
      act(
        'key.revoked',
        { keyId: id },
        {
          work: () => application.revokeKey(caller, id),
          after: toKeyFields,
        },
      ),
    rotateKey: (caller, id, oldValidMs) =>
      act(
        'key.rotated',
        { keyId: id },
        {
          work: () => application.rotateKey(caller, id, oldValidMs),
          after: ({ key }) => toKeyFields(key),
        },
      ),
  };
}

/** The actor's name in a record that is kept. */
const nameOf = ({ credential, key }: HttpActor): string =>
  key?.kind === 'key' ? `key ${key.id}` : `secret ${credential}`;

/** null when it does not exist or the request is invalid: the act itself reports that. */
async function unlessRefused(read: () => Promise<unknown>): Promise<unknown> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof ServiceError && error.status < 500) return null;
    throw error;
  }
}

/** The threads of the first of them. */
async function threadsOf(application: Application, emailIds: readonly string[]): Promise<Fields> {
  const threads: Record<string, string> = {};
  for (const id of emailIds.slice(0, MAX_LOCATED)) threads[id] = (await application.readEmail(id)).threadId;
  return threads;
}
