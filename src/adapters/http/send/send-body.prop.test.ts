import { readFileSync } from 'node:fs';
import * as fc from 'fast-check';
import { Compile } from 'typebox/schema';
import { describe, expect, it } from 'vitest';
import { arbitraryDamage, arbitraryOf } from '../../../../test/helpers/arbitrary/json-schema.ts';
import { readOperations } from '../../../../test/helpers/http-fuzz.ts';
import { ServiceError } from '../../../core/errors.ts';
import { createHttpLimits } from '../connections/limits.ts';
import { readSendBody } from './send-body.ts';
import { runs } from '../../../../test/helpers/runs.ts';

const document = JSON.parse(
  readFileSync(new URL('../../../../docs/openapi.json', import.meta.url), 'utf8'),
) as Record<string, unknown>;
const schema = readOperations(document).find(({ path }) => path === '/api/send')?.body ?? {};
const validator = Compile(schema);
const limits = createHttpLimits();

function outcome(text: string): string {
  try {
    readSendBody({ value: JSON.parse(text), longStrings: new Map(), requireRead: () => undefined }, limits);
    return 'accepted';
  } catch (error) {
    if (error instanceof ServiceError) return error.code;
    throw error;
  }
}

describe('readSendBody', () => {
  it('accepts whatever the OpenAPI document allows', () => {
    fc.assert(
      fc.property(arbitraryOf(schema), (body) => {
        expect(validator.Check(body)).toBe(true);
        expect(outcome(JSON.stringify(body))).toBe('accepted');
      }),
      { numRuns: runs(500) },
    );
  });

  it('refuses what the document does not allow, save blank addresses beside real ones, and contents that are null', () => {
    fc.assert(
      fc.property(arbitraryDamage(arbitraryOf(schema)), (text) => {
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

/** A file names its content in one of three ways; null stands for the absence of one, as elsewhere. */
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
