/** The smallest images of each kind that a browser shows. */
const base64 = (text: string): Buffer => Buffer.from(text, 'base64');

/** One red pixel. */
export const PNG = base64(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==',
);
export const GIF = base64('R0lGODlhAQABAIAAAP8AAAAAACwAAAAAAQABAAACAkQBADs=');
export const SVG = Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>');

/** A GIF of this many bytes. */
export const gifOf = (sizeBytes: number): Buffer =>
  Buffer.concat([GIF, Buffer.alloc(sizeBytes - GIF.length)]);
