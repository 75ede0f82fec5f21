/** The files on the clipboard. */
export function filesIn(clipboard: Pick<DataTransfer, 'files' | 'types'> | null): readonly File[] {
  // Office programs also add a picture of the copied text.
  return clipboard === null || clipboard.types.includes('text/plain') ? [] : [...clipboard.files];
}
