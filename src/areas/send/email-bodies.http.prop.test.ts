import { readFileSync } from 'node:fs';
import * as fc from 'fast-check';
import { Compile } from 'typebox/schema';
import { describe, expect, it } from 'vitest';
import {
  arbitraryDamage,
  arbitraryOf,
  type JsonSchema,
} from '../../../test/helpers/arbitrary/json-schema.ts';
import { readOperations } from '../../../test/helpers/http-fuzz.ts';
import { ServiceError } from '../../core/errors.ts';
import { createHttpLimits } from '../../platform/http/connections/limits.ts';
import { readDraftBody } from '../drafts/draft-body.ts';
import { readReplyBody } from '../reply/reply-body.ts';
import type { EmailJson } from './attachment-body.ts';
import { readSendChange } from './change-send-route.ts';
import { readSendBody } from './send-body.ts';
import { runs } from '../../../test/helpers/runs.ts';

const document = JSON.parse(
  readFileSync(new URL('../../../docs/openapi.json', import.meta.url), 'utf8'),
) as Record<string, unknown>;
const operations = readOperations(document);
const limits = createHttpLimits();

/** The readers of streamed bodies, each with an operation that publishes its schema. */
const READERS: readonly (readonly [string, string, (json: EmailJson) => unknown])[] = [
  ['POST', '/api/send', (json) => readSendBody(json, limits)],
  ['POST', '/api/emails/{id}/reply', (json) => readReplyBody(json, limits, 'reply')],
  ['POST', '/api/emails/{id}/reply-all', (json) => readReplyBody(json, limits, 'reply_all')],
  ['POST', '/api/emails/{id}/forward', (json) => readReplyBody(json, limits, 'forward')],
  ['PATCH', '/api/emails/{id}', (json) => readSendChange(json, limits)],
  ['POST', '/api/drafts', (json) => readDraftBody(json, limits)],
];

describe.each(READERS)('the body of %s %s', (method, path, read) => {
  const schema = operations.find((one) => one.method === method && one.path === path)?.body;
  if (schema === undefined || schema === null) throw new Error(`${method} ${path} has no body`);
  const validator = Compile(schema);
  const bodies = arbitraryOf(withTimeZones(schema));

  function outcome(text: string): string {
    try {
      read({
        value: JSON.parse(text),
        longStrings: new Map(),
        requireRead: () => undefined,
        requireAdmin: () => undefined,
      });
      return 'accepted';
    } catch (error) {
      if (error instanceof ServiceError) return error.code;
      throw error;
    }
  }

  it('is accepted when the OpenAPI document allows it', () => {
    fc.assert(
      fc.property(bodies, (body) => {
        fc.pre(path !== '/api/emails/{id}' || !hasEmptyBody(body));
        // The document says in words that these have no effect together.
        fc.pre(!isContradictory(body));
        expect(validator.Check(body)).toBe(true);
        expect(outcome(JSON.stringify(body))).toBe('accepted');
      }),
      { numRuns: runs(500) },
    );
  });

  it('is refused when the document does not allow it, save blank addresses beside real ones, and contents that are null', () => {
    fc.assert(
      fc.property(arbitraryDamage(bodies), (text) => {
        const value = parse(text);
        fc.pre(value !== undefined);
        const accepted = outcome(text) === 'accepted';
        const { to } = Object(value) as { to?: unknown };
        const blanks = Array.isArray(to) && to.some((one) => typeof one === 'string' && one.trim() === '');
        expect(accepted && !blanks && !validator.Check(withoutNullContents(value))).toBe(false);
      }),
      { numRuns: runs(2000) },
    );
  });

  it('throws nothing but errors with a code', () => {
    fc.assert(
      fc.property(fc.json(), (text) => {
        expect(outcome(text)).toMatch(/^\w+$/);
      }),
    );
  });
});

/** A change that gives a text or HTML needs one that is not empty. */
function hasEmptyBody(value: unknown): boolean {
  const { text_body: text, html_body: html } = Object(value) as Record<string, string | null | undefined>;
  return (text !== undefined || html !== undefined) && (text ?? '') === '' && (html ?? '') === '';
}

/** A schema can't list the existing time zones. */
function withTimeZones(schema: JsonSchema): JsonSchema {
  const named = (key: string, value: unknown): unknown =>
    key === 'time_zone' ? { enum: ['UTC', 'Europe/Berlin', null] } : value;
  return JSON.parse(JSON.stringify(schema), named) as JsonSchema;
}

/** A file gives its content in one of three ways; null is the same as absence, as elsewhere. */
function withoutNullContents(value: unknown): unknown {
  const { attachments } = Object(value) as { attachments?: unknown };
  if (!Array.isArray(attachments)) return value;
  const isContent = (name: string): boolean => ['content', 'upload_id', 'attachment_id'].includes(name);
  return {
    ...(value as object),
    attachments: attachments.map((file: unknown) =>
      typeof file === 'object' && file !== null && !Array.isArray(file)
        ? Object.fromEntries(Object.entries(file).filter(([name, one]) => !isContent(name) || one !== null))
        : file,
    ),
  };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** How to quote, without a quote; files of what is no forward; what an answer or a template determines, in a draft. */
function isContradictory(body: unknown): boolean {
  const { answers, ...own } = Object(body) as { answers?: unknown };
  return [own, answers].some((value) => {
    const { quote, language, time_zone, kind, with_files } = Object(value) as Readonly<
      Record<string, unknown>
    >;
    const isQuoted = quote !== false || ((language ?? null) === null && (time_zone ?? null) === null);
    const isAnswer = value === answers;
    return !isQuoted || (isAnswer && kind !== 'forward' && (with_files ?? null) !== null);
  });
}
