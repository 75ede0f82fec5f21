/** Shared by operations that take an email: reads their bodies, and answers them. */
import { randomBytes } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { CheckedEmail, SendOnceResult, SendResult } from './use-cases.ts';
import { keyIdOf } from '../../platform/http/connections/auth.ts';
import type { SpoolFolder } from '../../platform/files/file-ports.ts';
import type { HttpContext } from '../../platform/http/answers/context.ts';
import { refuseOtherMedia } from '../../platform/http/body/json-body.ts';
import {
  readJsonWithLongStrings,
  type JsonWithLongStrings,
} from '../../platform/http/body/json-long-strings.ts';
import { openBody } from '../../platform/http/body/open-body.ts';
import { RequestSlots } from '../../platform/http/body/request-slots.ts';
import type { HttpLimits } from '../../platform/http/connections/limits.ts';
import { readHowToSend, toCheckedJson } from './dry-run.ts';
import { REPLAYED_HEADER } from './idempotency-key.ts';
import { prefersAsync } from './prefer.ts';
import { answerSend } from './send-answer.ts';
import type { EmailJson } from './attachment-body.ts';

type ReadBody<Input> = (json: EmailJson, limits: HttpLimits) => Input;

/** The body, and the preference from the headers. */
type Asked<Input> = Input & { readonly respondAsync: boolean };

interface SendWork<Input> {
  readonly read: ReadBody<Input>;
  /** Takes over the folder. */
  readonly send: (input: Asked<Input>, folder: SpoolFolder) => Promise<SendResult>;
  readonly sendOnce: (key: string, input: Asked<Input>, folder: SpoolFolder) => Promise<SendOnceResult>;
  /** For `dry_run`. Takes over the folder. */
  readonly check: (input: Asked<Input>, folder: SpoolFolder) => Promise<CheckedEmail>;
}

export interface SendInput {
  /** Reads a body that may contain large attachments; its slot is held until `use` has ended. `use` takes over the folder. */
  withBody<Input, Result>(
    request: FastifyRequest,
    reply: FastifyReply,
    read: ReadBody<Input>,
    use: (input: Input, folder: SpoolFolder) => Promise<Result>,
  ): Promise<Result>;
  /** Handles a whole send: its body, its headers, and its answer. */
  answer<Input extends object>(
    request: FastifyRequest,
    reply: FastifyReply,
    work: SendWork<Input>,
  ): Promise<FastifyReply>;
}

/** The bodies of all operations with the same SendInput share its slots. */
export function createSendInput({
  limits,
  logger,
  spool,
  requireRight,
}: Pick<HttpContext, 'limits' | 'logger' | 'spool' | 'requireRight'>): SendInput {
  const slots = new RequestSlots(limits.maxLargeBodies);

  const withBody: SendInput['withBody'] = async (request, reply, read, use) => {
    const slot = slots.reserve(keyIdOf(request));
    const requireRead = () => requireRight(request, 'read');
    const requireAdmin = () => requireRight(request, 'admin');
    try {
      const folder = spool.create();
      const { maxBodyBytes: maxBytes } = limits;
      const input = await openBody(request, reply, { limits, logger, maxBytes, slot, folder }, async (body) =>
        read({ ...(await readJson(body, folder, limits)), requireRead, requireAdmin }, limits),
      );
      return await use(input, folder);
    } finally {
      slot.release();
    }
  };

  return {
    withBody,
    async answer(request, reply, { read, send, sendOnce, check }) {
      refuseOtherMedia(request.headers);
      const { key, dryRun } = readHowToSend(request);
      const respondAsync = prefersAsync(request.headers.prefer);
      return withBody(request, reply, read, async (body, folder) => {
        const input = { ...body, respondAsync };
        if (dryRun) return reply.send(toCheckedJson(await check(input, folder)));
        if (key === null) return answerSend(reply, await send(input, folder), respondAsync);
        const { outcome, replayed } = await sendOnce(key, input, folder);
        if (replayed) reply.header(REPLAYED_HEADER, 'true');
        return answerSend(reply, outcome, respondAsync);
      });
    },
  };
}

function readJson(
  body: AsyncGenerator<Buffer>,
  folder: SpoolFolder,
  limits: HttpLimits,
): Promise<JsonWithLongStrings> {
  // A guessable placeholder would let one attachment stand for another. Most requests need none.
  let secret: string | null = null;
  let count = 0;
  return readJsonWithLongStrings(body, {
    threshold: limits.maxInlineContentBytes,
    maxTextBytes: limits.maxTextBytes,
    maxElements: limits.maxJsonElements,
    maxDepth: limits.maxJsonDepth,
    maxFields: limits.maxJsonFields,
    maxDecodedBytes: limits.maxAttachmentBytes,
    folder,
    placeholder: () => `${(secret ??= randomBytes(16).toString('hex'))}x${count++}`,
  });
}
