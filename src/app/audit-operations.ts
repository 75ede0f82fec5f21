/** The operations that are not declared yet (see platform/operation/), logged as acts of operators. */
import type { Application } from './application.ts';
import { recordAct, type ActPorts, type LoggedAct, type Fields, type HttpActor } from './audit/record-act.ts';
import type { Erased, Erasure } from './erase/erasure-ports.ts';
import type { PersonRequest } from './erase/erase-people.ts';
import type { ThreadChange } from './threads/thread-record-ports.ts';
import type { SecurityEvent } from './base/security-log.ts';

/** The acts of operators, with the fields that their actor adds. */
export type Operations = {
  /** In the name of the actor whose request it is. */
  requestErasure(request: Omit<PersonRequest, 'requestedBy'>): Promise<Erasure>;
  checkErasure(request: Omit<PersonRequest, 'requestedBy'>): Promise<Erased>;
} & Pick<Application, 'changeSend' | 'changeThread'>;

/** The same operations, logged as acts of this actor. */
export function auditOperations(application: Application, ports: ActPorts, actor: HttpActor): Operations {
  const act = <T>(
    event: SecurityEvent,
    what: Fields,
    { before, work, after }: Pick<LoggedAct<T>, 'before' | 'work' | 'after'>,
  ): Promise<T> =>
    recordAct(ports, actor, { event, what, work, after, ...(before === undefined ? {} : { before }) });

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
  };
}

/** The actor's name in a record that is kept. */
const nameOf = ({ credential, key }: HttpActor): string =>
  key?.kind === 'key' ? `key ${key.id}` : `secret ${credential}`;

function changedFields({ version: _version, authorKeyId: _key, ...change }: ThreadChange): readonly string[] {
  return Object.entries(change).flatMap(([field, value]) =>
    value === undefined || (Array.isArray(value) && value.length === 0 && field !== 'labels') ? [] : [field],
  );
}
