/** Puts the content of a template into a message: asks for its variables, and shows a preview first. */
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { EmailWorkerError, type TemplatePreview, type TemplateSummary } from 'email-worker-client';
import { EditorContent, useEditor } from '@tiptap/react';
import { LayoutTemplate } from '../../ui/icons.tsx';
import { useState } from 'react';
import {
  Button as AriaButton,
  Dialog,
  DialogTrigger,
  Input,
  Label,
  Popover,
  TextField,
} from 'react-aria-components';
import { templatePreviewQuery, templateQuery, templatesQuery } from '../../api/queries.ts';
import { reasonOf } from '../../api/failure.ts';
import { useWords } from '../../i18n/index.tsx';
import { Button, IconButton } from '../../ui/button.tsx';
import '../../ui/field.css';
import '../../ui/menu.css';
import { toHtml, toMailHtml, toPlainText, type Body } from './body.ts';
import { withoutStyles } from './pasted-styles.ts';
import { htmlOf, richSchema } from './rich-schema.ts';
import { toVariables } from './template-variables.ts';
import { useLate } from './use-late.ts';

export interface FilledTemplate {
  readonly subject: string;
  readonly text: string;
  readonly html: string;
}

interface TemplatesProps {
  /** The account whose templates are offered; undefined: those shared by all accounts, and those of each. */
  readonly accountId: string | undefined;
  readonly onChoose: (filled: FilledTemplate) => void;
}

export function Templates({ accountId, onChoose }: TemplatesProps) {
  const { text } = useWords();
  return (
    <DialogTrigger>
      <IconButton icon={LayoutTemplate} label={text.write.template} />
      <Popover className="popover template-popover" placement="top start">
        <Dialog className="template-dialog" aria-label={text.write.template}>
          {({ close }) => (
            <Choice
              accountId={accountId}
              onChoose={(filled) => {
                close();
                onChoose(filled);
              }}
            />
          )}
        </Dialog>
      </Popover>
    </DialogTrigger>
  );
}

function Choice({ accountId, onChoose }: TemplatesProps) {
  const { text } = useWords();
  const [chosen, setChosen] = useState<TemplateSummary | null>(null);
  const templates = useQuery(templatesQuery(accountId));
  if (chosen !== null)
    return <Filling template={chosen} onBack={() => setChosen(null)} onChoose={onChoose} />;
  if (templates.isError)
    return (
      <p className="field-error template-note" role="alert">
        {text.app.unreachable}
      </p>
    );
  if (templates.data?.length === 0) return <p className="template-note">{text.write.noTemplates}</p>;
  return (templates.data ?? []).map((template) => (
    <AriaButton key={template.id} className="menu-item template-choice" onPress={() => setChosen(template)}>
      <span className="truncate">{template.name}</span>
    </AriaButton>
  ));
}

interface FillingProps {
  readonly template: TemplateSummary;
  readonly onBack: () => void;
  readonly onChoose: (filled: FilledTemplate) => void;
}

function Filling({ template: { id, name }, onBack, onChoose }: FillingProps) {
  const { text, language } = useWords();
  const [values, setValues] = useState<Readonly<Record<string, string>>>({});
  const template = useQuery(templateQuery(id));
  const asked = template.data?.variables ?? [];
  const late = useLate(values);
  const isFilled = asked.every((path) => (values[path] ?? '') !== '');
  const preview = useQuery({
    ...templatePreviewQuery(id, toVariables(late)),
    enabled: template.isSuccess && isFilled && late === values,
    placeholderData: keepPreviousData,
    retry: false,
  });
  const problem = template.error ?? preview.error;
  return (
    <div className="template-filling">
      <p className="field-label truncate">{name}</p>
      {asked.map((path) => (
        <TextField
          key={path}
          className="field"
          value={values[path] ?? ''}
          onChange={(value) => setValues({ ...values, [path]: value })}
        >
          <Label className="field-label">{path}</Label>
          <Input className="input" />
        </TextField>
      ))}
      {problem !== null && (
        <p className="field-error" role="alert">
          {problem instanceof EmailWorkerError && problem.status === 400
            ? reasonOf(problem, language)
            : text.app.unreachable}
        </p>
      )}
      {isFilled && preview.data !== undefined && !preview.isError ? (
        <Preview
          key={`${preview.data.text_body} ${preview.data.html_body}`}
          preview={preview.data}
          isReady={!preview.isPlaceholderData && late === values}
          onBack={onBack}
          onChoose={onChoose}
        />
      ) : (
        <div className="template-buttons">
          <Button look="outline" onPress={onBack}>
            {text.app.back}
          </Button>
        </div>
      )}
    </div>
  );
}

interface PreviewProps {
  readonly preview: TemplatePreview;
  /** True if the preview shows the present values. */
  readonly isReady: boolean;
  readonly onBack: () => void;
  readonly onChoose: (filled: FilledTemplate) => void;
}

/** The template as it will appear in the message, which has fewer forms than a designed email. */
function Preview({ preview, isReady, onBack, onChoose }: PreviewProps) {
  const { text } = useWords();
  const { subject, text_body: said, html_body: html } = preview;
  const [schema] = useState(() => richSchema(new Map()));
  const editor = useEditor({
    extensions: schema,
    content: withoutStyles(html ?? toHtml(said ?? '')),
    injectCSS: false,
    editable: false,
    editorProps: {
      attributes: { role: 'document', 'aria-label': text.write.preview, class: 'writer-rich', tabindex: '0' },
    },
  });
  const filled = (): FilledTemplate => ({
    subject,
    text: said ?? toPlainText(editor.getJSON()),
    html: toMailHtml(htmlOf(editor.state.doc)),
  });
  return (
    <>
      <p className="template-subject">{subject}</p>
      <EditorContent editor={editor} className="template-preview" />
      <div className="template-buttons">
        <Button look="outline" onPress={onBack}>
          {text.app.back}
        </Button>
        <Button look="primary" isDisabled={!isReady} onPress={() => onChoose(filled())}>
          {text.write.insert}
        </Button>
      </div>
    </>
  );
}

/** A message with a template below the text written so far. */
export function withTemplate({ text_body: text, html_body: html }: Body, filled: FilledTemplate): Body {
  const isEmpty = text.trim() === '' && (html ?? '') === '';
  return {
    text_body: isEmpty ? filled.text : `${text}\n${filled.text}`,
    html_body: html === null ? null : `${html}${filled.html}`,
  };
}
