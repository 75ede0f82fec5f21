/**
 * The browser and the system that a request comes from, as a person recognises them in a list of sessions: `Firefox, Linux`. Without
 * versions: an update is no other device.
 */

/** The first that fits: most browsers also name others. */
const BROWSERS: readonly (readonly [RegExp, string])[] = [
  [/\bEdg(?:e|A|iOS)?\//, 'Edge'],
  [/\bOPR\//, 'Opera'],
  [/\bSamsungBrowser\//, 'Samsung Internet'],
  [/\b(?:Firefox|FxiOS)\//, 'Firefox'],
  [/\b(?:Chrome|CriOS|Chromium|HeadlessChrome)\//, 'Chrome'],
  [/\bSafari\//, 'Safari'],
];

const SYSTEMS: readonly (readonly [RegExp, string])[] = [
  [/\biPhone\b/, 'iPhone'],
  [/\biPad\b/, 'iPad'],
  [/\bAndroid\b/, 'Android'],
  [/\bWindows\b/, 'Windows'],
  [/\bCrOS\b/, 'ChromeOS'],
  [/\bMac OS X\b|\bMacintosh\b/, 'macOS'],
  [/\bLinux\b/, 'Linux'],
];

/** @param userAgent RFC 9110 §10.1.5; anything, or nothing */
export function deviceOf(userAgent: string | undefined): string {
  const text = userAgent ?? '';
  const find = (known: readonly (readonly [RegExp, string])[]) =>
    known.find(([form]) => form.test(text))?.[1] ?? null;
  // A program names itself first.
  const browser = find(BROWSERS) ?? /^[A-Za-z0-9._-]{1,40}/.exec(text)?.[0] ?? '?';
  const system = find(SYSTEMS);
  return system === null ? browser : `${browser}, ${system}`;
}
