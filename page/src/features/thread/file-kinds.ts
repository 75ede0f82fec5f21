/**
 * What a received file is, by what a computer goes by: the extension of its name, and its type where it has none. Names are a stranger's:
 * they may show one extension and have another.
 */

export type FileKind = 'image' | 'text' | 'sheet' | 'archive' | 'other' | Danger;
/** What a file can do as soon as it is opened. */
export type Danger = 'program' | 'script' | 'shortcut' | 'disk' | 'web' | 'macro';
/** How a name deceives. */
export type Disguise = 'double' | 'direction' | 'hidden';

export interface FileLook {
  readonly kind: FileKind;
  /** Without the dot, in lower case; empty when there is none. */
  readonly extension: string;
  readonly danger: Danger | null;
  readonly disguises: readonly Disguise[];
}

const set = (words: string): ReadonlySet<string> => new Set(words.split(' '));

const DANGERS: readonly (readonly [Danger, ReadonlySet<string>])[] = [
  [
    'program',
    set(
      'exe com scr pif cpl msi msp mst msix msixbundle msu appx appxbundle appinstaller application gadget dll ocx sys drv jar apk ipa app pkg mpkg ' +
        'deb rpm run bin elf appimage flatpak snap xll wll ax prg air reg inf',
    ),
  ],
  [
    'script',
    set(
      'bat cmd ps1 ps1xml psm1 psd1 psc1 vb vbs vbe vbscript js jse mjs cjs ws wsf wsh wsc sct hta hta msc msh chm hlp jnlp ' +
        'sh bash csh zsh ksh fish command tool py pyc pyw pyz pl rb php lua ahk au3 scpt scptd applescript workflow action ade adp mde',
    ),
  ],
  [
    'shortcut',
    set(
      'lnk url website webloc inetloc fileloc desktop scf search-ms searchconnector-ms library-ms appref-ms settingcontent-ms theme themepack ' +
        'deskthemepack rdp iqy oqy dqy slk contact diagcab xbap',
    ),
  ],
  ['disk', set('iso img udf vhd vhdx vmdk vdi dmg sparseimage sparsebundle toast daa nrg bin cue wim esd')],
  ['web', set('html htm xhtml xht shtml shtm dhtml mht mhtml svg svgz xsl xslt')],
  [
    'macro',
    set(
      'docm dotm xlsm xltm xlsb xlam xla xlm pptm potm ppsm ppam ppa sldm one onepkg accdb accde accdr mdb mda mdw odb',
    ),
  ],
];

const KINDS: readonly (readonly [FileKind, ReadonlySet<string>])[] = [
  ['image', set('png jpg jpeg jfif gif webp bmp tif tiff heic heif avif ico')],
  ['text', set('pdf txt md rtf doc docx dot dotx odt ott pages eml msg ics vcf log json xml epub tex')],
  ['sheet', set('xls xlsx xlt xltx ods ots csv tsv numbers')],
  ['archive', set('zip gz tgz bz2 tbz xz txz zst 7z rar tar cab arj lzh lz z ace')],
];

/** Of files without an extension. */
const TYPES: readonly (readonly [FileKind, RegExp])[] = [
  [
    'program',
    /^application\/(?:x-ms-?dos-?program|x-msdownload|x-msi|vnd\.microsoft\.portable-executable|x-executable|java-archive|x-dosexec|vnd\.android\.package-archive)$/,
  ],
  [
    'script',
    /^(?:application|text)\/(?:x-)?(?:javascript|ecmascript|sh|shellscript|python|perl|php|vbscript|powershell|hta)$/,
  ],
  ['shortcut', /^application\/(?:x-ms-shortcut|x-mswinurl|internet-shortcut)$/],
  ['disk', /^application\/(?:x-iso9660-image|x-apple-diskimage|x-virtualbox-vhd)$/],
  ['web', /^(?:text\/html|application\/xhtml\+xml|image\/svg\+xml|multipart\/related)$/],
  ['macro', /macroenabled/],
  ['image', /^image\//],
  ['text', /^(?:text\/|application\/pdf$)/],
];

/** What is not seen, and what Windows leaves off the end of a name. */
const UNSEEN = /[\p{Cc}\p{Cf}\u115f\u1160\u2800\u3164\uffa0]/gu;
const ENDS = /[\s.]+$/u;
/** Marks that turn the letters of a name around, and marks of direction. */
const DIRECTION = /[\u200e\u200f\u061c\u202a-\u202e\u2066-\u2069]/;
/** Room that pushes the real extension out of sight. */
const GAP = /\s{4}/u;

const extensionOf = (name: string): string => /\.([^.\s]{1,24})$/u.exec(name)?.[1]?.toLowerCase() ?? '';

const kindOf = (extension: string): FileKind | null =>
  [...DANGERS, ...KINDS].find(([, extensions]) => extensions.has(extension))?.[0] ?? null;

const isDanger = (kind: FileKind): kind is Danger => DANGERS.some(([danger]) => danger === kind);

/** @param filename as the email has it */
export function lookOf(filename: string, contentType: string): FileLook {
  const name = filename.normalize('NFKC').replace(UNSEEN, '').trim().replace(ENDS, '');
  const extension = extensionOf(name);
  const ofType = TYPES.find(([, type]) => type.test(contentType.toLowerCase()))?.[0] ?? 'other';
  const kind = kindOf(extension) ?? (extension === '' ? ofType : isDanger(ofType) ? ofType : 'other');
  const danger = isDanger(kind) ? kind : null;
  const before = kindOf(extensionOf(name.slice(0, -extension.length - 1).replace(ENDS, '')));
  const isDouble = danger !== null && before !== null && before !== danger && before !== 'archive';
  const disguises: Disguise[] = [];
  if (isDouble) disguises.push('double');
  if (DIRECTION.test(filename)) disguises.push('direction');
  if (GAP.test(filename.trim()) || (danger !== null && UNSEEN_AT_ALL.test(filename.replace(DIRECTIONS, ''))))
    disguises.push('hidden');
  return { kind, extension, danger, disguises };
}

const DIRECTIONS = new RegExp(DIRECTION.source, 'g');
const UNSEEN_AT_ALL = new RegExp(UNSEEN.source, 'u');
