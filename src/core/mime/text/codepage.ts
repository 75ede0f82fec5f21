/** The charset of a Windows code page, as a label for decodeCharset. */
export function charsetOfCodepage(codepage: number): string {
  if (codepage === 65001) return 'utf-8';
  if (codepage === 10000) return 'macintosh';
  if (codepage >= 28591 && codepage <= 28605) return `iso-8859-${codepage - 28590}`;
  const isWindows = codepage === 874 || (codepage >= 1250 && codepage <= 1258);
  return isWindows ? `windows-${codepage}` : `cp${codepage}`;
}
