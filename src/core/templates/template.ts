/** What a template is, and what can be wrong with it. Plain values: they are copied between processes. */

/** Texts with Liquid in them; of an email, all that it says. */
export interface TemplateContent {
  readonly subject: string;
  /** null: none. At least one of the two is there. */
  readonly textBody: string | null;
  readonly htmlBody: string | null;
}

/** As requests name them. */
export type TemplateField = 'subject' | 'text_body' | 'html_body';

/** Where it is, from 1. */
interface Spot {
  readonly field: TemplateField;
  readonly line: number;
  readonly column: number;
}

export type TemplateFault =
  /** The template uses it, and the email does not give it. */
  | ({ readonly kind: 'missing_variable'; readonly variable: string } & Spot)
  /** It is no Liquid, or uses a tag or filter that does not exist. `detail` is English, and says nothing of this machine. */
  | ({ readonly kind: 'invalid'; readonly detail: string } & Spot)
  /** It takes, or makes, too much; null: one of its fields. */
  | { readonly kind: 'too_much'; readonly field: TemplateField | null }
  /** The field has nothing in it when it is filled. */
  | { readonly kind: 'empty'; readonly field: TemplateField };

export type CheckedTemplate =
  /** Names and paths that an email has to give, such as `customer.name`, in the order of their first use. */
  { readonly kind: 'valid'; readonly variables: readonly string[] } | TemplateFault;

export type FilledTemplate = { readonly kind: 'filled'; readonly content: TemplateContent } | TemplateFault;
