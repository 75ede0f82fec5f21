/** The schema of a body that is bytes, and that the route reads as a stream. */
export const BinaryBody = { type: 'string', format: 'binary' } as const;

/** Such a body has no value that could be checked. */
export const isBinary = (schema: Readonly<Record<string, unknown>>): boolean =>
  schema['format'] === BinaryBody.format;
