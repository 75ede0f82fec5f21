/** What every list that is read page by page takes and gives. */

export const DEFAULT_PAGE_LIMIT = 50;

/** How many on a page. */
export const PageLimit = {
  type: 'integer',
  minimum: 1,
  maximum: 200,
  default: DEFAULT_PAGE_LIMIT,
  description: 'On a page.',
} as const;

export const PageCursor = {
  type: 'string',
  minLength: 1,
  maxLength: 512,
  description: '`next_cursor` of the page before; nothing for the first page.',
} as const;

export const NextCursor = {
  type: ['string', 'null'],
  description: 'For the next page; null on the last one.',
} as const;
