/** Puts a text on the clipboard; false: the browser does not allow it, such as on a page over plain HTTP, which has no `navigator.clipboard`. */
export async function copyText(text: string): Promise<boolean> {
  if (!window.isSecureContext) return false;
  return navigator.clipboard.writeText(text).then(
    () => true,
    () => false,
  );
}
