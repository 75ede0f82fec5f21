/** The files of the clipboard. */
export function filesIn(clipboard: Pick<DataTransfer, 'files' | 'types'> | null): readonly File[] {
  // Office programs give a picture of the text beside it, too.
  return clipboard === null || clipboard.types.includes('text/plain') ? [] : [...clipboard.files];
}
