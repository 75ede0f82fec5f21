/** True for a text that mentions an attached file. "Anlage" alone may be a plant. */
const SPOKEN_OF =
  /(?<!\p{L})(?:anbei|(?:e-?mail-?)?anhang|angeh(?:ä|ae)ngt\p{L}*|beigef(?:ü|ue)gt\p{L}*|beiliegend\p{L}*|(?:in der|als|siehe|siehe auch|s\.) anlagen?|anlagen?:|attached|attaching|attachments?|enclosed|enclosing|enclosures?)(?!\p{L})/iu;

/** Quoted lines are not part of the written text. */
const QUOTED_LINE = /^>.*$/gm;

export const speaksOfFile = (text: string): boolean => SPOKEN_OF.test(text.replace(QUOTED_LINE, ''));
