/** The operations that are not declared yet (see platform/operation/), logged as acts of operators. */
import type { Application } from './application.ts';
import { recordAct, type ActPorts, type LoggedAct, type Fields, type HttpActor } from './audit/record-act.ts';
import { changedFields, toDecisionFields, toEmailFields, toRegistrationFields } from './audited-fields.ts';
import type { Erased, Erasure } from './erase/erasure-ports.ts';
import type { PersonRequest } from './erase/erase-people.ts';
import type { SecurityEvent } from './base/security-log.ts';

/** The acts of operators, with the fields that their actor adds. */
export type Operations = {
  /** In the name of the actor whose request it is. */
  requestErasure(request: Omit<PersonRequest, 'requestedBy'>): Promise<Erasure>;
  checkErasure(request: Omit<PersonRequest, 'requestedBy'>): Promise<Erased>;
} & Pick<
  Application,
  | 'deleteEmail'
  | 'deleteThread'
  | 'changeSend'
  | 'cancelSend'
  | 'retrySend'
  | 'resolveSend'
  | 'retrySentCopy'
  | 'registerCustomer'
  | 'changeCustomerAddress'
  | 'changeThread'
  | 'splitThread'
  | 'mergeThreads'
  | 'moveEmails'
  | 'retryQuarantined'
>;

/** Emails whose thread is looked up before they are moved; each is read whole. */
const MAX_LOCATED = 20;

/** The same operations, logged as acts of this actor. */
export function auditOperations(application: Application, ports: ActPorts, actor: HttpActor): Operations {
  const act = <T>(
    event: SecurityEvent,
    what: Fields,
    { before, work, after }: Pick<LoggedAct<T>, 'before' | 'work' | 'after'>,
  ): Promise<T> =>
    recordAct(ports, actor, { event, what, work, after, ...(before === undefined ? {} : { before }) });

  const sendState = (id: string) => async () => (await application.readEmail(id)).state;
  const asIs = <T>(result: T): T => result;
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
  };
}

/** The actor's name in a record that is kept. */
const nameOf = ({ credential, key }: HttpActor): string =>
  key?.kind === 'key' ? `key ${key.id}` : `secret ${credential}`;

/** The threads of the first of them. */
async function threadsOf(application: Application, emailIds: readonly string[]): Promise<Fields> {
  const threads: Record<string, string> = {};
  for (const id of emailIds.slice(0, MAX_LOCATED)) threads[id] = (await application.readEmail(id)).threadId;
  return threads;
}
