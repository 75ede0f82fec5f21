/** Fills a send in from a template. */
import { invalidRequest } from '../../core/errors.ts';
import { MAX_SENT_SUBJECT_CHARS } from '../../platform/base/limits.ts';
import type { FillTemplate } from '../templates/fill-template.ts';
import type { SendRequest } from './use-cases.ts';

/** A reply may take its subject from the email that it answers: then it is null. */
interface Fillable extends Pick<SendRequest, 'textBody' | 'htmlBody' | 'template' | 'authorKeyId'> {
  readonly subject: string | null;
}

/**
 * The send with the contents of its template. Fields that the request gives itself stay. Throws the errors of
 * `fillTemplate`, and `invalid_request` for a subject that is too long.
 */
export async function fillIn<Request extends Fillable>(
  fillTemplate: FillTemplate,
  request: Request,
  accountId: string,
): Promise<Request> {
  if (request.template === null) return request;
  const { subject, textBody, htmlBody } = await fillTemplate(
    { ...request.template, authorKeyId: request.authorKeyId ?? null },
    accountId,
  );
  const filled = {
    ...request,
    subject: request.subject?.trim() === '' ? subject : request.subject,
    textBody: request.textBody ?? textBody,
    htmlBody: request.htmlBody ?? htmlBody,
    template: null,
  };
  refuseLongSubject(filled);
  return filled;
}

export function refuseLongSubject({ subject }: Pick<Fillable, 'subject'>): void {
  if (subject !== null && subject.length > MAX_SENT_SUBJECT_CHARS) {
    throw invalidRequest('too_long', { field: 'subject', limit: MAX_SENT_SUBJECT_CHARS });
  }
}
