/** The elements that a formatted message may contain; everything else that is pasted becomes one of these, or plain text. */
import { Extension } from '@tiptap/core';
import { Bold } from '@tiptap/extension-bold';
import { HardBreak } from '@tiptap/extension-hard-break';
import { Italic } from '@tiptap/extension-italic';
import { Paragraph } from '@tiptap/extension-paragraph';
import { Underline } from '@tiptap/extension-underline';
import { DOMSerializer, type Node as DocNode } from '@tiptap/pm/model';
import { StarterKit } from '@tiptap/starter-kit';
import { inlineImage, nameByContentId, type ImageSources } from './inline-image.ts';
import { byStyle, isReallyBold } from './pasted.ts';
import { TABLES } from './table.ts';

/** A line is a `div`; see body.ts. */
const Line = Paragraph.extend({
  parseHTML: () => [{ tag: 'p' }, { tag: 'div' }],
  renderHTML: () => ['div', 0],
});

/** The `br` in an empty line only gives the line its height. */
const isFiller = ({ parentElement }: HTMLElement): boolean =>
  parentElement !== null && parentElement.matches('div, p') && parentElement.childNodes.length === 1;

const Break = HardBreak.extend({
  parseHTML: () => [
    { tag: 'br', ignore: true, getAttrs: (br: HTMLElement) => (isFiller(br) ? {} : false) },
    { tag: 'br' },
  ],
});

/** Control and Enter send the message. */
const SendKey = Extension.create({
  name: 'sendKey',
  priority: 2000,
  addKeyboardShortcuts: () => ({ 'Mod-Enter': () => true }),
});

/** `images`: the addresses of the images in the text. */
export const richSchema = (images: ImageSources) => [
  StarterKit.configure({
    bold: false,
    italic: false,
    underline: false,
    paragraph: false,
    hardBreak: false,
    // Mail programs show only one heading size alike.
    heading: { levels: [3] },
    code: false,
    codeBlock: false,
    horizontalRule: false,
    dropcursor: false,
    link: { openOnClick: false, defaultProtocol: 'https', HTMLAttributes: { rel: null, target: null } },
  }),
  Bold.extend({
    parseHTML: () => [
      { tag: 'strong' },
      { tag: 'b', getAttrs: isReallyBold },
      byStyle('font-weight', /^(?:bold|[6-9]00)/),
    ],
  }),
  Italic.extend({ parseHTML: () => [{ tag: 'em' }, { tag: 'i' }, byStyle('font-style', /^italic/)] }),
  Underline.extend({ parseHTML: () => [{ tag: 'u' }, byStyle('text-decoration', /underline/)] }),
  Line,
  Break,
  ...TABLES,
  inlineImage(images),
  SendKey,
];

/** The written text as HTML. Built in a document that loads nothing: a browser can't load a `cid:` address. */
export function htmlOf(doc: DocNode): string {
  const inert = document.implementation.createHTMLDocument('');
  const box = inert.createElement('div');
  box.append(DOMSerializer.fromSchema(doc.type.schema).serializeFragment(doc.content, { document: inert }));
  nameByContentId(box);
  return box.innerHTML;
}
