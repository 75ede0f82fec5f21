import { createHash } from 'node:crypto';
import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { draftArbitrary } from '../../../test/helpers/arbitrary/draft.ts';
import { addrSpec } from '../address/address.ts';
import { composeMessage } from '../mime/compose/compose.ts';
import { htmlToText } from '../mime/text/html-to-text.ts';
import { parseMessage } from '../mime/parse/parse.ts';
import { decodeTransfer } from '../mime/parse/transfer-decoding.ts';
import { toCopyContent } from './copy-content.ts';
import { isRewrittenCopy } from './sent-copy.ts';
import type { MessageId } from './message-id.ts';
import { runs } from '../../../test/helpers/runs.ts';

const digest = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');

it('whatever is sent is found again in its copy with another Message-ID', () => {
  const property = fc.property(draftArbitrary, (draft) => {
    const raw = composeMessage({ ...draft, messageId: 'relay@relay.test' as MessageId });
    const message = parseMessage(raw);
    // A mail without a text of its own is read with that of an inline file.
    fc.pre((draft.textBody ?? htmlToText(draft.htmlBody ?? '')).trim() !== '' || message.text.trim() === '');
    const digests = message.attachments.map(({ content }) =>
      digest(
        content.kind === 'bytes'
          ? content.bytes
          : decodeTransfer(raw.subarray(content.start, content.end), content.encoding),
      ),
    );
    const sent = {
      ...draft,
      from: [addrSpec(draft.from)],
      to: draft.to.map(addrSpec),
      cc: draft.cc.map(addrSpec),
      bcc: ['boss@example.com'],
      text: draft.textBody ?? htmlToText(draft.htmlBody ?? ''),
      html: draft.htmlBody,
      attachmentDigests: draft.attachments.map(({ content }) =>
        digest(content.kind === 'bytes' ? content.bytes : Buffer.alloc(0)),
      ),
    };
    expect(isRewrittenCopy(toCopyContent(message, digests), sent)).toBe(true);
    expect(
      isRewrittenCopy(toCopyContent(message, digests), { ...sent, text: `${sent.text}!`, html: null }),
    ).toBe(false);
  });
  fc.assert(property, { numRuns: runs(300) });
});
