/** The bounds of making HTML safe, with unit and origin. All are ours: above what real mail has, below what hurts. */

/** HTML that is made safe, in UTF-16 units; the rest is left out. A long newsletter has 0.2 million, images apart. */
export const MAX_SAFE_INPUT_CHARS = 2_000_000;

/** The resulting HTML, in UTF-16 units. Small HTML can grow a lot: open tags are repeated in each paragraph. */
export const MAX_SAFE_OUTPUT_CHARS = 4_000_000;

/** Elements and texts. Newsletters have 1000 to 20,000. */
export const MAX_SAFE_NODES = 100_000;

/** Elements within elements. Browsers follow 512; newsletters have 40 to 80. */
export const MAX_SAFE_DEPTH = 400;

/**
 * Style sheets of one email together, as they come and as they are written, in UTF-16 units. Outlook writes 10,000. Beyond this bound and
 * the next three, an email is shown without its sheets.
 */
export const MAX_STYLE_SHEET_CHARS = 200_000;

/** Rules of style sheets. Newsletters have up to 500. */
export const MAX_STYLE_RULES = 2000;

/** Rules that one element can get. Newsletters have up to 20. */
export const MAX_RULES_OF_ELEMENT = 200;

/**
 * The cost of applying style sheets: a part of a selector that is compared with an element counts once, a declaration that the element gets
 * ten times. A newsletter of 20,000 elements has a million, which takes half
 * a second.
 */
export const MAX_STYLE_COST = 2_000_000;
export const DECLARATION_COST = 10;

/** The attribute `style` of one element, in UTF-16 units; a longer one is left out. */
export const MAX_STYLE_CHARS = 10_000;

/** The address of a link or a remote image, in UTF-16 units. As long as browsers and proxies take. */
export const MAX_URL_CHARS = 8192;

/**
 * Link texts of one email that are searched for addresses, in UTF-16 units, and candidates for addresses in them; links
 * beyond either limit count as deceptive. An email has ten thousand and a hundred, and is read two or three times.
 */
export const MAX_LINK_TEXT_CHARS = 1_000_000;
export const MAX_LINK_HOSTS = 20_000;

/** Times that the result is parsed and made safe again until it stays the same. Nearly all HTML needs one. */
export const MAX_ROUNDS = 4;
