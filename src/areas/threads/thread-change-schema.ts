/** What people change on a thread, in the API. */
import { invalidRequest } from '../../core/errors.ts';
import { TRIMMED_LINE_PATTERN } from '../../core/one-line.ts';
import { MAX_LABEL_CHARS, MAX_THREAD_LABELS } from '../../core/thread/thread-work.ts';
import type { Value } from '../../platform/operation/values.ts';
import { NullableUuid } from '../../platform/schemas/schemas.ts';
import { ThreadLabel, ThreadStatusText } from '../../platform/schemas/thread-schemas.ts';
import { MAX_ASSIGNEE_CHARS } from './assignees.ts';
import type { ThreadChange } from './thread-record-ports.ts';

const labelList = (maxItems: number, description: string) =>
  ({ type: 'array', maxItems, items: ThreadLabel, description }) as const;

export const ThreadChangeBody = {
  type: 'object',
  title: 'ThreadChange',
  additionalProperties: false,
  properties: {
    customer_id: {
      ...NullableUuid,
      description:
        'Customer chosen by hand; it wins over the sends and the rules. The customer that the thread already has by them is no ' +
        'choice and changes nothing; null removes the choice.',
    },
    company_id: NullableUuid,
    status: { ...ThreadStatusText, description: '`done` and `spam` also settle undelivered sends.' },
    undelivered: {
      type: 'boolean',
      const: false,
      description: '`false` settles undelivered sends.',
    },
    assignee: {
      title: 'AssigneeChoice',
      type: ['string', 'null'],
      minLength: 1,
      maxLength: MAX_ASSIGNEE_CHARS,
      pattern: TRIMMED_LINE_PATTERN,
      description:
        'Id of a key that may answer in the account of the thread (`GET /api/assignees`), or of the present assignee; null: not assigned.',
    },
    labels: labelList(MAX_THREAD_LABELS, 'Replaces all labels.'),
    add_labels: labelList(MAX_THREAD_LABELS, 'Labels to add.'),
    // After a merge a thread may have more labels than a request may give it.
    remove_labels: labelList(5 * MAX_THREAD_LABELS, 'Labels to remove.'),
  },
} as const;

/** All labels that one request may name, and the assignee, with each character escaped, in bytes. */
export const MAX_THREAD_CHANGE_BYTES =
  (7 * MAX_THREAD_LABELS * MAX_LABEL_CHARS + MAX_ASSIGNEE_CHARS) * 12 + 4096;

type Body = Value<typeof ThreadChangeBody>;

/** Throws `invalid_request` for a label that is to be there and to be removed: only one of the two could have an effect. */
export function toThreadChange(body: Body, version: number | null): ThreadChange {
  refuseAddedAndRemoved(body);
  return {
    version,
    customerId: body.customerId,
    companyId: body.companyId,
    status: body.status,
    settles: body.undelivered === false ? true : undefined,
    assignee: body.assignee,
    labels: body.labels,
    addLabels: body.addLabels ?? [],
    removeLabels: body.removeLabels ?? [],
  };
}

function refuseAddedAndRemoved({ labels = [], addLabels = [], removeLabels = [] }: Body): void {
  for (const [field, given] of Object.entries({ labels, add_labels: addLabels })) {
    const value = given.find((label) => removeLabels.includes(label));
    if (value !== undefined)
      throw invalidRequest('added_and_removed', { value, field, other: 'remove_labels' });
  }
}
