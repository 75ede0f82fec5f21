/** The email that is answered or forwarded: whether it and its files are included, and how it will appear below the text. */
import type { ReplyPreview } from 'email-worker-client';
import { Paperclip } from '../../ui/icons.tsx';
import { useState } from 'react';
import { useWords } from '../../i18n/index.tsx';
import { FoldButton } from '../../ui/fold-button.tsx';
import { Middle } from '../../ui/middle.tsx';
import { shown } from '../../ui/shown.ts';
import type { Answers } from './draft-keeper.ts';

interface AnsweredProps {
  readonly preview: ReplyPreview;
  readonly answers: Answers;
  readonly onChange: (changed: Pick<Answers, 'quote'> | Pick<Answers, 'with_files'>) => void;
}

export function Answered({ preview, answers, onChange }: AnsweredProps) {
  const { text, format } = useWords();
  const [isOpen, setOpen] = useState(false);
  const isForward = answers.kind === 'forward';
  const { attachments: files } = preview;
  return (
    <div className="answered">
      <div className="answered-line">
        <label>
          <input
            type="checkbox"
            checked={answers.quote}
            onChange={({ target }) => onChange({ quote: target.checked })}
          />
          {isForward ? text.write.withForwarded : text.write.withQuote}
        </label>
        {answers.quote && <FoldButton isOpen={isOpen} onPress={() => setOpen(!isOpen)} />}
      </div>
      {answers.quote && isOpen && (
        // Its HTML is a stranger's: the text has the same content and runs nothing. The keyboard must reach an element that scrolls, too.
        // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex
        <section className="answered-quote" aria-label={text.write.quotedText} tabIndex={0}>
          {shown(preview.quote_text).trim()}
          {preview.quote_cut && <p>{text.thread.cut}</p>}
        </section>
      )}
      {files.length > 0 && (
        <>
          <label className="answered-line">
            <input
              type="checkbox"
              checked={answers.with_files}
              onChange={({ target }) => onChange({ with_files: target.checked })}
            />
            {text.write.withFiles}
          </label>
          <ul
            className="answered-files"
            aria-label={text.write.forwardedFiles}
            data-is-left-out={answers.with_files ? undefined : ''}
          >
            {files.map((file) => (
              <li key={file.id} className="writer-file">
                <Paperclip size={14} aria-hidden />
                <span className="writer-file-name">
                  <Middle is="file">{shown(file.filename)}</Middle>
                </span>
                <span className="writer-file-size">{format.size(file.size_bytes)}</span>
              </li>
            ))}
          </ul>
        </>
      )}
    </div>
  );
}
