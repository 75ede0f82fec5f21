/** What tools that send tell of a send, and its idempotency key. */
import { createHash } from 'node:crypto';
import { z } from 'zod';
import { bodyOf } from './define-tool.ts';
import type { ApiAnswer } from './api-call.ts';

interface SendAnswer {
  readonly status: 'sent' | 'queued' | 'partial';
  readonly id?: string;
  readonly threadId?: string;
  readonly not_accepted?: readonly {
    readonly address: string;
    readonly state: string;
    readonly reply: { readonly text: string } | null;
  }[];
}

export const idempotencyKey = z
  .string()
  .regex(/^[!-~]{1,256}$/)
  .optional()
  .describe(
    'Your name for this email. Without it, the same call again within a day sends nothing; to send the same email twice, name it.',
  );

export const Outcome = z.strictObject({
  status: z
    .enum(['sent', 'queued', 'partial'])
    .describe('partial: sent, and stored later; never send it again.'),
  email_id: z.string().nullable(),
  thread_id: z.string().nullable(),
  repeated: z.boolean().describe('True: this call sent nothing; it was sent by an earlier one.'),
  not_accepted: z
    .array(z.strictObject({ untrusted_address: z.string(), state: z.string(), untrusted_reply: z.string() }))
    .optional()
    .describe('Recipients that the mail server refused or put off.'),
});

export function toOutcome(answer: ApiAnswer): z.infer<typeof Outcome> {
  const { status, id: emailId, threadId, not_accepted: refused } = bodyOf<SendAnswer>(answer);
  return {
    status,
    email_id: emailId ?? null,
    thread_id: threadId ?? null,
    repeated: answer.isReplay,
    ...(refused === undefined
      ? {}
      : {
          not_accepted: refused.map(({ address, state, reply }) => ({
            untrusted_address: address,
            state,
            untrusted_reply: reply?.text ?? '',
          })),
        }),
  };
}

/** The same for equal values, whatever the order of their fields: a model that repeats a call names no key, or forgets the one it named. */
export const deriveKey = (...parts: readonly unknown[]): string =>
  `mcp-${createHash('sha256')
    .update(JSON.stringify(parts.map(sorted)))
    .digest('hex')}`;

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (value === null || typeof value !== 'object') return value;
  const entries = Object.entries(value).toSorted(([one], [other]) => (one < other ? -1 : 1));
  return Object.fromEntries(entries.map(([name, item]) => [name, sorted(item)]));
}
