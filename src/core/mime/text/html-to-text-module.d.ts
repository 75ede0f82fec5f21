/** The part of the package `html-to-text` 10 that we use; it brings no types of its own. */
declare module 'html-to-text' {
  export interface DomNode {
    /** `text`, `tag` and others. */
    readonly type?: string;
    /** For a tag, lower-case. */
    readonly name?: string;
    /** For a text. */
    readonly data?: string;
    readonly parent?: DomNode | null;
    readonly children?: readonly DomNode[];
    readonly attribs?: Readonly<Record<string, string>>;
  }

  export interface BlockTextBuilder<Metadata> {
    /** The converter's second argument. */
    readonly metadata: Metadata;
    addInline(text: string, options?: { readonly noWordTransform?: boolean }): void;
    pushWordTransform(transform: (word: string) => string): void;
    popWordTransform(): void;
    openBlock(options: { readonly leadingLineBreaks?: number; readonly reservedLineLength?: number }): void;
    closeBlock(options: {
      readonly trailingLineBreaks?: number;
      readonly blockTransform?: (text: string) => string;
    }): void;
    openList(options: { readonly interRowLineBreaks?: number; readonly leadingLineBreaks?: number }): void;
    closeList(options: { readonly trailingLineBreaks?: number }): void;
  }

  export type Walk<Metadata> = (nodes: readonly DomNode[], builder: BlockTextBuilder<Metadata>) => void;

  export type Formatter<Metadata> = (
    element: DomNode,
    walk: Walk<Metadata>,
    builder: BlockTextBuilder<Metadata>,
  ) => void;

  export interface HtmlToTextOptions<Metadata> {
    readonly wordwrap: number | false;
    /** The elements whose text is rendered; none: the whole document. */
    readonly baseElements: { readonly selectors: readonly string[] };
    readonly formatters: Readonly<Record<string, Formatter<Metadata>>>;
    readonly selectors: readonly {
      readonly selector: string;
      readonly format?: string;
      readonly options?: Readonly<Record<string, unknown>>;
    }[];
    readonly limits: {
      readonly ellipsis: string;
      readonly maxDepth: number;
      readonly maxInputLength: number;
    };
  }

  /** Prepares a converter, which may be called many times. */
  export function compile<Metadata>(
    options: HtmlToTextOptions<Metadata>,
  ): (html: string, metadata: Metadata) => string;
}
