/** A template and its possible faults. Plain values: they are copied between processes. */

/** Texts with Liquid in them; for an email, its whole content. */
export interface TemplateContent {
  readonly subject: string;
  /** null: none. At least one of the two bodies exists. */
  readonly textBody: string | null;
  readonly htmlBody: string | null;
}

/** As requests name them. */
export type TemplateField = 'subject' | 'text_body' | 'html_body';

/** The position of a fault, from 1. */
interface Spot {
  readonly field: TemplateField;
  readonly line: number;
  readonly column: number;
}

export type TemplateFault =
  /** The template uses the variable, and the email does not provide it. */
  | ({ readonly kind: 'missing_variable'; readonly variable: string } & Spot)
  /** The text is not Liquid, or uses an unknown tag or filter. `detail` is English, and reveals nothing about this machine. */
  | ({ readonly kind: 'invalid'; readonly detail: string } & Spot)
  /** The template takes, or produces, too much; null: it is not known in which field. */
  | { readonly kind: 'too_much'; readonly field: TemplateField | null }
  /** The field is empty when it is filled in. */
  | { readonly kind: 'empty'; readonly field: TemplateField };

export type CheckedTemplate =
  /** Names and paths that an email has to provide, such as `customer.name`, in the order of their first use. */
  { readonly kind: 'valid'; readonly variables: readonly string[] } | TemplateFault;

export type FilledTemplate = { readonly kind: 'filled'; readonly content: TemplateContent } | TemplateFault;
