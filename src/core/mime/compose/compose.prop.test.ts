import * as fc from 'fast-check';
import { simpleParser, type AddressObject, type EmailAddress, type ParsedMail } from 'mailparser';
import { describe, expect, it } from 'vitest';
import { draftArbitrary, filesInOrder } from '../../../../test/helpers/arbitrary/draft.ts';
import type { Address } from '../../address/address.ts';
import { parseAddressList } from '../../address/address-list.ts';
import { formatMessageId } from '../../message/message-id.ts';
import { composeMessage, composeMessageStream, type Draft } from './compose.ts';
import { displayFilename } from '../text/filename.ts';
import { runs } from '../../../../test/helpers/runs.ts';

const OWN_FIELDS = new Set(
  (
    'date from to cc reply-to subject message-id in-reply-to references mime-version ' +
    'content-type content-transfer-encoding content-disposition'
  ).split(' '),
);

const parse = (raw: Buffer): Promise<ParsedMail> =>
  simpleParser(raw, {
    skipHtmlToText: true,
    skipTextToHtml: true,
    skipTextLinks: true,
    skipImageLinks: true,
  });

/** mailparser decodes encoded words in file names, after RFC 2231 and although RFC 2047 §5 forbids it. */
const readByMailparser = (filename: string | undefined): string =>
  (filename ?? '').replace(/=\?utf-8\?q\?x\?=/g, 'x');

const addresses = (list: AddressObject | AddressObject[] | undefined): readonly EmailAddress[] =>
  [list ?? []].flat().flatMap(({ value }) => value);

const withLf = (text: string | null): string => (text ?? '').replace(/\r\n?/g, '\n').replace(/\n+$/, '');

/** mailparser reads neither quoted local parts that contain specials nor literals; those are checked by our own parser. */
const isReadByMailparser = ({ localPart }: Address): boolean => /^[\w.+-]+$/.test(localPart);

/** mailparser shows the A-labels of some domains as Unicode, and keeps the quotes of a local part only beside a name. */
const likeOurs = (address: string): string => address.replace('рф', 'xn--p1ai').replace(/^"([^"]*)"@/, '$1@');

async function collect(chunks: AsyncIterable<Buffer>): Promise<Buffer> {
  const parts: Buffer[] = [];
  for await (const chunk of chunks) parts.push(chunk);
  return Buffer.concat(parts);
}

async function* slice(bytes: Buffer, size: number): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

/** The fields of a head, unfolded. */
function fieldsOf(raw: Buffer): readonly (readonly [name: string, value: string])[] {
  const text = raw.toString('utf8');
  const head = text.slice(0, text.indexOf('\r\n\r\n')).replace(/\r\n(?=[ \t])/g, '');
  return head.split('\r\n').map((line) => {
    const colon = line.indexOf(':');
    return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
  });
}

describe('a composed message', () => {
  it('has CRLF line ends only, lines of at most 998 octets, and 7-bit bytes unless a local part is not ASCII', () => {
    fc.assert(
      fc.property(draftArbitrary, (draft) => {
        const raw = composeMessage(draft);
        const text = raw.toString('latin1');
        expect(text.replaceAll('\r\n', '')).not.toMatch(/[\r\n]/);
        expect(text.endsWith('\r\n')).toBe(true);
        expect(Math.max(...text.split('\r\n').map((line) => line.length))).toBeLessThanOrEqual(998);
        const body = text.slice(text.indexOf('\r\n\r\n'));
        expect(body).toMatch(/^[\t\r\n -~]*$/);
        const utf8 = [draft.from, ...draft.to, ...draft.cc, ...(draft.replyTo ?? [])].some(({ localPart }) =>
          /[^ -~]/.test(localPart),
        );
        // Whole-header check only where no local part is raw UTF-8.
        expect(utf8 || /^[\t\r\n -~]*$/.test(text)).toBe(true);
        expect(Math.max(...body.split('\r\n').map((line) => line.length))).toBeLessThanOrEqual(260);
        expect(body).not.toMatch(/^(?:From |\.)/m);
      }),
      { numRuns: runs(500) },
    );
  });

  it('holds no field that the draft did not ask for, and each of its own once', () => {
    fc.assert(
      fc.property(draftArbitrary, (draft) => {
        const names = fieldsOf(composeMessage(draft)).map(([name]) => name);
        expect(new Set(names).size).toBe(names.length);
        expect(names.filter((name) => !OWN_FIELDS.has(name))).toEqual([]);
      }),
      { numRuns: runs(300) },
    );
  });

  it('survives an independent parser', async () => {
    await fc.assert(
      fc.asyncProperty(draftArbitrary, async (draft) => {
        const mail = await parse(composeMessage(draft));
        const files = filesInOrder(draft);
        expect(mail.subject ?? '').toBe(draft.subject);
        expect(mail.date?.getTime()).toBe(Math.floor(draft.date.getTime() / 1000) * 1000);
        expect(mail.messageId).toBe(`<${draft.messageId}>`);
        expect(withLf(mail.text ?? '')).toBe(withLf(draft.textBody));
        expect(withLf(mail.html || '')).toBe(withLf(draft.htmlBody));
        expect(mail.attachments.map(({ content }) => content.toString('base64'))).toEqual(
          files.map(({ content }) => (content.kind === 'bytes' ? content.bytes.toString('base64') : null)),
        );
        expect(mail.attachments.map(({ filename }) => filename)).toEqual(
          files.map(({ filename }) => readByMailparser(displayFilename(filename))),
        );
        expect(mail.inReplyTo ?? '').toBe(draft.inReplyTo.map(formatMessageId).join(' '));
        expect([mail.references ?? []].flat()).toEqual(draft.references.map(formatMessageId));
      }),
      { numRuns: runs(300) },
    );
  });

  it('names exactly the given sender and recipients, for our parser and for another', async () => {
    await fc.assert(
      fc.asyncProperty(draftArbitrary, async (draft) => {
        const raw = composeMessage(draft);
        const fields = new Map(fieldsOf(raw));
        const read = (name: string) => parseAddressList(fields.get(name) ?? '', name);
        expect(read('from')).toEqual([draft.from]);
        expect(read('to')).toEqual(draft.to);
        expect(read('cc')).toEqual(draft.cc);
        expect(read('reply-to')).toEqual(draft.replyTo);

        const mail = await parse(raw);
        const all = [draft.from, ...draft.to, ...draft.cc];
        if (!all.every(isReadByMailparser)) return;
        const parsed = [mail.from, mail.to, mail.cc].flatMap(addresses);
        const found = parsed.flatMap(({ address }) => address || []);
        expect(found.map(likeOurs)).toEqual(all.map(({ localPart, domain }) => `${localPart}@${domain}`));
      }),
      { numRuns: runs(500) },
    );
  });

  it('is the same as a stream, whatever the chunks of a file', async () => {
    await fc.assert(
      fc.asyncProperty(draftArbitrary, fc.constantFrom(29, 56, 57, 1000, 58_369), async (draft, size) => {
        const whole = composeMessage(draft);
        const files: Buffer[] = [];
        const asFiles: Draft = {
          ...draft,
          attachments: draft.attachments.map((attachment) => {
            if (attachment.content.kind === 'file') return attachment;
            const { bytes } = attachment.content;
            files.push(bytes);
            return {
              ...attachment,
              content: { kind: 'file', path: `${files.length - 1}`, sizeBytes: bytes.length },
            };
          }),
        };
        const streamed = await collect(composeMessageStream(draft, () => slice(Buffer.alloc(0), 1)));
        const fromFiles = await collect(
          composeMessageStream(asFiles, ({ path }) => slice(files[Number(path)]!, size)),
        );
        expect(streamed.equals(whole)).toBe(true);
        expect(fromFiles.equals(whole)).toBe(true);
      }),
      { numRuns: runs(150) },
    );
  });
});
