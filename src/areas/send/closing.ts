/** The signature and the footer of a send. */
import { addrSpec, type Address } from '../../core/address/address.ts';
import { SIGNATURE_VARIABLES, type ClosingText } from '../../core/accounts/closing.ts';
import type { OpenSettings } from '../../core/accounts/open-settings.ts';
import { ServiceError } from '../../core/errors.ts';
import type { Account } from '../../platform/base/basics.ts';
import { checkTemplate, fillTemplate, type TemplateReadingPorts } from '../templates/fill-template.ts';
import type { SendRequest } from './use-cases.ts';

/** Liquid; a text without it needs no reading process. */
const HAS_LIQUID = /\{[{%]/;
/** The subject of a template can't be empty. */
const SUBJECT = '-';

/** The signature as it is sent; null: it is empty, or there is none. Throws the faults of a template. */
export async function fillSignature(
  ports: TemplateReadingPorts,
  signature: ClosingText | null,
  { authorName = '', authorKeyId }: Pick<SendRequest, 'authorName' | 'authorKeyId'>,
  { id }: Account,
  from: Address,
): Promise<ClosingText | null> {
  if (signature === null || !HAS_LIQUID.test(signature.text + (signature.html ?? ''))) return signature;
  const variables = {
    author: { name: authorName },
    account: { id, name: from.name, address: addrSpec(from) },
  };
  const template = {
    subject: SUBJECT,
    textBody: signature.text,
    htmlBody: signature.html,
    variables: SIGNATURE_VARIABLES,
  };
  try {
    const { textBody, htmlBody } = await fillTemplate(ports, template, { variables, authorKeyId });
    // Such as a line with the name of an author who has none.
    return textBody === null || textBody.trim() === '' ? null : { text: textBody, html: htmlBody };
  } catch (error) {
    if (error instanceof ServiceError && error.code === 'template_empty') return null;
    throw error;
  }
}

/** Throws `invalid_account` for a signature that is no template, or has an unknown variable. */
export async function checkSignatures(
  ports: TemplateReadingPorts,
  open: Pick<OpenSettings, 'signature_text' | 'signature_html' | 'addresses'>,
): Promise<void> {
  await checkSignature(ports, '', open);
  for (const [index, address] of (open.addresses ?? []).entries())
    await checkSignature(ports, `addresses[${index}].`, address);
}

type SignatureFields = Pick<OpenSettings, 'signature_text' | 'signature_html'>;

async function checkSignature(
  ports: TemplateReadingPorts,
  path: string,
  { signature_text: textBody, signature_html: htmlBody }: SignatureFields,
): Promise<void> {
  if (textBody === null || !HAS_LIQUID.test(textBody + (htmlBody ?? ''))) return;
  const refuse = (details: string) =>
    new ServiceError('invalid_account', { values: { field: `${path}signature_text` }, details });
  let used: readonly string[];
  try {
    used = await checkTemplate(ports, { subject: SUBJECT, textBody, htmlBody }, null);
  } catch (error) {
    if (!(error instanceof ServiceError) || error.temporary) throw error;
    throw refuse(`${error.englishText} ${error.details ?? ''}`.trim());
  }
  const known: ReadonlySet<string> = new Set(SIGNATURE_VARIABLES);
  const unknown = used.find((name) => !known.has(name));
  if (unknown !== undefined)
    throw refuse(`has the unknown variable ${unknown}; there are ${SIGNATURE_VARIABLES.join(', ')}`);
}
