/**
 * Text with every character that people can't see written out, such as `<U+E0041>`: a stranger can hide instructions for a model in tag
 * characters, variation selectors, zero-width or direction characters, which no person who reads the same email notices.
 */
import { EMOJI, MAX_RUN_CHARS } from './emoji.ts';

/**
 * Controls but tab, line feed and carriage return; format characters but the visible ones of Arabic, Syriac and Kaithi; whatever has no
 * glyph by default (Unicode's Default_Ignorable_Code_Point: tags, variation selectors, fillers); separators of lines and paragraphs;
 * private use, surrogates without a partner and noncharacters.
 */
const UNSEEN =
  /(?![\t\n\r\u0600-\u0605\u06dd\u070f\u0890\u0891\u08e2\u{110bd}\u{110cd}])[\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}\p{Zl}\p{Zp}\p{Co}\p{Cs}\p{Noncharacter_Code_Point}]/u;

/** Only in such a run is an emoji looked for, which takes long. A longer one is looked at in parts of that length. */
const RUN_OR_UNSEEN = new RegExp(
  `[\\p{Emoji}\\p{Emoji_Component}]{1,${MAX_RUN_CHARS}}|${UNSEEN.source}`,
  'gu',
);

const codeOf = (character: string): string =>
  `<U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}>`;

/** Applied twice, the result is the same. Up to nine times as long as `text`. */
export function toVisible(text: string): string {
  if (!UNSEEN.test(text)) return text;
  return text.replace(RUN_OR_UNSEEN, (run) =>
    UNSEEN.test(run)
      ? run.replace(
          EMOJI,
          (found: string, emoji: string | undefined) => emoji ?? found.replace(UNSEEN, codeOf),
        )
      : run,
  );
}
