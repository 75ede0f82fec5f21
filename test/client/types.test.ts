/** The types of the client. The compiler is the test: `npm run types`. */
import { describe, expectTypeOf, it } from 'vitest';
import {
  createClient,
  type ClientOptions,
  type Email,
  type EmailListing,
  type EmailWorkerClient,
  type EmailWorkerError,
  type ErrorCode,
  type Page,
  type SendMessage,
  type SendResult,
  type ServiceErrorCode,
  type ThreadSummary,
} from '../../clients/typescript/src/index.ts';
import type { ErrorCode as RegisteredCode } from '../../src/core/error-registry.ts';

type Method<Name extends 'list' | 'get'> = EmailWorkerClient['threads'][Name];

describe('the types of the client', () => {
  it('know every code of the service, and no other', () => {
    expectTypeOf<ServiceErrorCode>().toEqualTypeOf<RegisteredCode>();
    expectTypeOf<EmailWorkerError['code']>().toEqualTypeOf<ErrorCode>();
  });

  it('tell the results of a send apart by their status', () => {
    type Of<Status> = Extract<SendResult, { status: Status }>;
    expectTypeOf<SendResult['status']>().toEqualTypeOf<'sent' | 'queued' | 'partial'>();
    expectTypeOf<Of<'sent'>['id']>().toEqualTypeOf<string>();
    expectTypeOf<Of<'queued'>['threadId']>().toEqualTypeOf<string>();
    expectTypeOf<Of<'partial'>>().not.toHaveProperty('id');
    expectTypeOf<Of<'partial'>['error']>().toEqualTypeOf<string>();
  });

  it('want a body, and take only fields that there are', () => {
    const base = { to: 'ada@example.com', subject: 'Hello' };
    expectTypeOf({ ...base, text_body: 'Hello' }).toExtend<SendMessage>();
    expectTypeOf({ ...base, html_body: '<p>' }).toExtend<SendMessage>();
    expectTypeOf(base).not.toExtend<SendMessage>();
    expectTypeOf({ ...base, text_body: 'Hello', priority: 'urgent' as const }).not.toExtend<SendMessage>();
    // @ts-expect-error a field that is misspelt
    expectTypeOf<SendMessage>({ ...base, text_body: 'Hello', atachments: [] });
  });

  it('take undefined for an option, read-only lists, and moments as Date', () => {
    const to: readonly string[] = ['ada@example.com'];
    const message = { to, subject: 'Hello', text_body: 'Hello', cc: undefined, send_at: new Date() };
    expectTypeOf(message).toExtend<SendMessage>();
    expectTypeOf<{ unread: undefined; q: string }>().toExtend<NonNullable<Parameters<Method<'list'>>[0]>>();
    expectTypeOf<{ unread: 'true' }>().not.toExtend<NonNullable<Parameters<Method<'list'>>[0]>>();
  });

  it('take the fetch of the platform', () => {
    expectTypeOf<typeof fetch>().toExtend<NonNullable<ClientOptions['fetch']>>();
  });

  it('give items, and pages of them', () => {
    expectTypeOf<ReturnType<Method<'list'>>>().toExtend<AsyncIterable<ThreadSummary>>();
    expectTypeOf<Awaited<ReturnType<ReturnType<Method<'list'>>['page']>>>().toEqualTypeOf<
      Page<ThreadSummary>
    >();
    expectTypeOf<Awaited<ReturnType<Method<'get'>>>['emails']>().toEqualTypeOf<Email[]>();
    expectTypeOf<EmailListing['state']>().toExtend<string>();
    expectTypeOf(createClient).returns.toEqualTypeOf<EmailWorkerClient>();
  });
});
