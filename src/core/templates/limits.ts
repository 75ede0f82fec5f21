/** The bounds of templates. */

/** The largest number of the PostgreSQL type. */
export const MAX_TEMPLATE_VERSION = 2_147_483_647;

/** A name for people, in UTF-16 units. */
export const MAX_TEMPLATE_NAME_CHARS = 200;

/** The subject of a template, in UTF-16 units: it is one line. */
export const MAX_TEMPLATE_SUBJECT_CHARS = 2000;

/** The text or the HTML of a template, in UTF-16 units: a long newsletter has a fifth. */
export const MAX_TEMPLATE_BODY_CHARS = 256 * 1024;

/** A filled text or HTML, in UTF-16 units. */
export const MAX_FILLED_CHARS = 1024 * 1024;

/** The variables of one email as JSON, in bytes: a long list of an invoice has a tenth. */
export const MAX_VARIABLES_BYTES = 64 * 1024;

/** Tags, outputs and texts that are executed for one field; those in a loop count each time. */
export const MAX_STEPS = 100_000;

/**
 * Characters and entries that are walked through to fill in one field: by each filter, comparison and output, all that it is given. A list that
 * contains another one twice, which contains another one twice, and so on, is small in memory and endless when it is written out.
 */
export const MAX_WALKED = 16 * 1024 * 1024;

/** Characters and entries that the expressions of one field produce together, as LiquidJS counts them. */
export const MAX_WORKED = 4 * 1024 * 1024;
