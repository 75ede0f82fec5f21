/** The kinds of content that making HTML safe leaves out. */

export const REMOVED_KINDS = [
  /** Elements `script`, and links that run one. */
  'scripts',
  /** Attributes `on…`. */
  'event_handlers',
  /** Forms, their fields and buttons; the text of a form stays. */
  'forms',
  /** Pages within the page: `iframe`, `frame`, `object`, `embed`, `applet`. */
  'frames',
  /** Audio and video. */
  'media',
  /** SVG and MathML. */
  'vector_graphics',
  /** `meta`, `base` and `link`. */
  'metadata',
  /** Declarations of styles that are not allowed, such as `position`. */
  'styles',
  /** All style sheets of an email that take too much to be followed. */
  'style_sheets',
  /** Links to anything but web pages, mail addresses and telephones. */
  'links',
  /** Images that would be fetched from elsewhere. `remote=allow` keeps them. */
  'remote_images',
  /** Anything else that would be fetched: style sheets, fonts, films. */
  'remote_content',
  /** Images that are neither raster images nor files of the email. */
  'images',
] as const;

export type RemovedKind = (typeof REMOVED_KINDS)[number];
export type Removed = Record<RemovedKind, number>;

export const nothingRemoved = (): Removed =>
  Object.fromEntries(REMOVED_KINDS.map((kind) => [kind, 0])) as Removed;

/** Elements that are left out with all their content; null: not reported. */
export const DROPPED: Readonly<Record<string, RemovedKind | null>> = {
  script: 'scripts',
  style: null,
  title: null,
  template: null,
  noscript: null,
  noembed: null,
  noframes: null,
  head: null,
  iframe: 'frames',
  frame: 'frames',
  frameset: 'frames',
  object: 'frames',
  embed: 'frames',
  applet: 'frames',
  portal: 'frames',
  fencedframe: 'frames',
  audio: 'media',
  video: 'media',
  source: 'media',
  track: 'media',
  bgsound: 'media',
  canvas: 'media',
  svg: 'vector_graphics',
  math: 'vector_graphics',
  input: 'forms',
  select: 'forms',
  datalist: 'forms',
  textarea: 'forms',
  isindex: 'forms',
  keygen: 'forms',
  meta: 'metadata',
  base: 'metadata',
  link: 'metadata',
  map: 'links',
  area: 'links',
};

/** Elements that are replaced by their content, and reported. */
export const UNWRAPPED: Readonly<Record<string, RemovedKind>> = {
  form: 'forms',
  button: 'forms',
};
