/** The version of what operators change, as ETag and for If-Match (RFC 9110 §13.1.1). */

export const EntryVersion = {
  title: 'EntryVersion',
  $comment: 'Grows with each change, for `If-Match`.',
  type: 'integer',
  minimum: 1,
} as const;

/** `ifMatch` of an operation that may be carried out whatever the version is. */
export const IF_THIS_VERSION = {
  need: 'optional',
  text: 'Only when this is the version. Absent: any version.',
} as const;

/** `versionOf` of an operation. */
export const versionOf = ({ version }: { readonly version: number }): number => version;
