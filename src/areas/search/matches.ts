/** A condition on a row `x` of `email_search`. Written so that no index is used for it: the row is at hand. */
export const matches = (query: string) => `(x.words @@ ${query}::tsquery) is true`;
