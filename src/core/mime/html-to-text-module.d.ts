/** The part of the package `html-to-text` 10 that we use; it brings no types of its own. */
declare module 'html-to-text' {
  export interface DomNode {
    readonly children?: readonly DomNode[];
    readonly attribs?: Readonly<Record<string, string>>;
  }

  export interface BlockTextBuilder {
    addInline(text: string): void;
  }

  export type Walk = (nodes: readonly DomNode[], builder: BlockTextBuilder) => void;

  export interface HtmlToTextOptions {
    readonly wordwrap: number | false;
    /** Of which elements the text is taken; none: of the whole document. */
    readonly baseElements: { readonly selectors: readonly string[] };
    readonly formatters: Readonly<
      Record<string, (element: DomNode, walk: Walk, builder: BlockTextBuilder) => void>
    >;
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
  export function compile(options: HtmlToTextOptions): (html: string) => string;
}
