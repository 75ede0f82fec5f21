/** Whether a text speaks of a file that goes with it. Quotes are not asked: they are no part of what is written. */
const SPOKEN_OF =
  /(?<!\p{L})(?:anbei|anhang|angehängt\p{L}*|angehaengt\p{L}*|beigefügt\p{L}*|beigefuegt\p{L}*|im anhang|attached|attachments?|enclosed)(?!\p{L})/iu;

export const speaksOfFile = (text: string): boolean => SPOKEN_OF.test(text);
