/** The fields of a message, its files, and the actions on it. */
import { RemoveFormatting, Send, Trash2, Type } from '../../ui/icons.tsx';
import {
  useEffect,
  useId,
  useRef,
  useState,
  type ClipboardEvent,
  type DragEvent,
  type KeyboardEvent,
} from 'react';
import { useMay, useSession } from '../../app/session.tsx';
import { useWords } from '../../i18n/index.tsx';
import { Button, IconButton } from '../../ui/button.tsx';
import { Answered } from './answered.tsx';
import { ClosingParts } from './closing-parts.tsx';
import type { KeeperState } from './draft-keeper.ts';
import { toHtml, type Body } from './body.ts';
import { AttachButton, DraftFiles } from './files.tsx';
import { filesIn } from './pasted-files.ts';
import { MovedOn } from './moved-on.tsx';
import { Recipients } from './recipients.tsx';
import { RichText, type RichTextHandle } from './rich-text.tsx';
import { SendLater } from './send-later.tsx';
import { SenderField } from './sender-field.tsx';
import { Templates, withTemplate, type FilledTemplate } from './templates.tsx';
import { useWriter, type WriterOptions } from './use-writer.ts';
import { keepWritesPlain } from './writing-format.ts';
import './writer.css';

interface WriterFormProps extends WriterOptions {
  readonly title: string;
  readonly placeholder: string;
  readonly alwaysCc?: boolean;
  /** The field that gets the focus first. */
  readonly focus: 'to' | 'text';
  readonly onClose: () => void;
}

export function WriterForm(props: WriterFormProps) {
  const { title, preview, placeholder, alwaysCc = false, focus, onClose } = props;
  const { text } = useWords();
  const maySend = useMay('send');
  const { limits } = useSession();
  const id = useId();
  const writer = useWriter(props);
  const { fields, files, uploads, images, state, problem, concerns, isSending, isWaiting } = writer;
  const richText = useRef<RichTextHandle>(null);
  const [hasCc, setCc] = useState(alwaysCc || fields.cc !== '');
  const [hasBcc, setBcc] = useState(fields.bcc !== '');
  const [isDropping, setDropping] = useState(false);
  const section = useRef<HTMLElement>(null);
  const isBegun = props.draft === null;
  // A person who answers sees the whole writer; a person who reads stays where they are.
  useEffect(() => {
    if (isBegun) section.current?.scrollIntoView({ block: 'nearest' });
  }, [isBegun]);
  const isRich = fields.html_body !== null;
  const [isSwitched, setSwitched] = useState(false);
  /** The formatted text before it became plain text. */
  const formatted = useRef<Body | null>(null);
  const switchForm = (): void => {
    const { text_body: said } = fields;
    const before = formatted.current;
    if (isRich) formatted.current = { text_body: said, html_body: fields.html_body };
    keepWritesPlain(isRich);
    setSwitched(true);
    writer.change({
      text_body: said,
      html_body: isRich ? null : before?.text_body === said ? before.html_body : toHtml(said),
    });
  };
  /** The editor starts again with the content of a template. */
  const [revision, setRevision] = useState(0);
  const takeTemplate = (filled: FilledTemplate): void => {
    const subject = fields.subject.trim() === '' ? { subject: filled.subject } : {};
    setSwitched(true);
    setRevision(revision + 1);
    writer.change({ ...withTemplate(fields, filled), ...subject });
  };
  /** Works wherever the focus is: before a button takes the key for a press. */
  const onSendKey = (event: KeyboardEvent): void => {
    if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey) || !maySend) return;
    event.preventDefault();
    event.stopPropagation();
    void writer.send();
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key !== 'Escape') return;
    event.preventDefault();
    if (writer.mayClose()) onClose();
  };
  const recipients = (field: 'to' | 'cc' | 'bcc', autoFocus = false) => (
    <Recipients
      label={text.write[field]}
      value={fields[field]}
      onChange={(value) => writer.change({ [field]: value })}
      onKeyDown={onKeyDown}
      autoFocus={autoFocus}
    >
      {field === 'to' && (
        <span className="writer-more">
          {!hasCc && <Button onPress={() => setCc(true)}>{text.write.cc}</Button>}
          {!hasBcc && <Button onPress={() => setBcc(true)}>{text.write.bcc}</Button>}
        </span>
      )}
    </Recipients>
  );
  const states: Readonly<Record<KeeperState, string>> = {
    idle: '',
    saving: text.write.saving,
    saved: text.write.saved,
    failed: text.write.notSaved,
    elsewhere: text.write.elsewhere,
    sent: '',
    discarded: '',
  };
  const onDrop = (event: DragEvent): void => {
    setDropping(false);
    // The text field has taken the files.
    if (event.defaultPrevented || event.dataTransfer.files.length === 0) return;
    event.preventDefault();
    writer.attach([...event.dataTransfer.files]);
  };
  const onPaste = (event: ClipboardEvent): void => {
    const pasted = filesIn(event.clipboardData);
    if (event.defaultPrevented || pasted.length === 0) return;
    event.preventDefault();
    writer.attach(pasted);
  };
  return (
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-element-interactions -- the button does what dropping does
    <section
      ref={section}
      className="writer"
      aria-label={title}
      data-is-dropping={isDropping ? '' : undefined}
      onKeyDownCapture={onSendKey}
      onDragOver={(event) => {
        if (!event.dataTransfer.types.includes('Files')) return;
        event.preventDefault();
        setDropping(true);
      }}
      onDragLeave={() => setDropping(false)}
      onDrop={onDrop}
      onPaste={onPaste}
    >
      {writer.from !== null && (
        <SenderField
          from={writer.from}
          fromName={fields.from_name}
          senders={props.senders}
          usual={props.usualSender}
          isAccountGiven={writer.answers !== null}
          problem={writer.senderProblem}
          onChange={writer.change}
          onKeyDown={onKeyDown}
        />
      )}
      {recipients('to', focus === 'to')}
      {hasCc && recipients('cc')}
      {hasBcc && recipients('bcc')}
      <div className="writer-field">
        <label htmlFor={`${id}-subject`}>{text.write.subject}</label>
        <input
          id={`${id}-subject`}
          value={fields.subject}
          onChange={(event) => writer.change({ subject: event.target.value })}
          onKeyDown={onKeyDown}
          autoComplete="off"
          spellCheck
        />
      </div>
      {isRich ? (
        <RichText
          key={revision}
          ref={richText}
          images={images}
          onImage={writer.addImage}
          onFiles={writer.attach}
          label={text.write.text}
          placeholder={placeholder}
          html={fields.html_body ?? ''}
          onChange={writer.change}
          onKeyDown={onKeyDown}
          autoFocus={focus === 'text' || isSwitched}
        />
      ) : (
        <textarea
          className="writer-text"
          aria-label={text.write.text}
          placeholder={placeholder}
          value={fields.text_body}
          onChange={(event) => writer.change({ text_body: event.target.value })}
          onKeyDown={onKeyDown}
          autoFocus={focus === 'text' || isSwitched}
        />
      )}
      <ClosingParts
        from={writer.from}
        isRich={isRich}
        isSigned={fields.signature}
        isInThread={writer.answers !== null || (props.draft?.thread_id ?? null) !== null}
        hasFooter={props.draft?.message.footer !== false}
        onChange={writer.change}
      />
      {preview !== null && writer.answers !== null && (
        <Answered preview={preview} answers={writer.answers} onChange={writer.changeAnswers} />
      )}
      <DraftFiles
        files={files}
        uploads={uploads}
        totalBytes={writer.totalBytes}
        maxBytes={limits.attachment_bytes}
        onRemove={(file) => void writer.remove(file)}
        onCancel={(upload) => {
          writer.cancel(upload);
          if (upload.contentId !== null) richText.current?.removeImage(upload.contentId);
        }}
        onRetry={writer.retry}
      />
      {isWaiting && (
        <div className="writer-waiting" role="status">
          <p>{text.write.sendWaits}</p>
          <Button look="outline" onPress={writer.stopWaiting}>
            {text.app.cancel}
          </Button>
        </div>
      )}
      {problem !== null && (
        <p className="writer-problem" role="alert">
          {problem}
        </p>
      )}
      {concerns.length > 0 && (
        <div className="writer-concerns" role="alert">
          <ul>
            {concerns.map((concern) => (
              <li key={concern}>{concern}</li>
            ))}
          </ul>
          <Button look="outline" onPress={() => void writer.sendAnyway()}>
            {text.write.sendAnyway}
          </Button>
        </div>
      )}
      {(state === 'sent' || state === 'discarded') && (
        <div className="writer-concerns" role="alert">
          <p>
            {text.write.lost[state]} {writer.areFilesLost && text.write.filesLost}
          </p>
          <Button look="outline" onPress={writer.keepLost}>
            {text.write.keepLost}
          </Button>
          <Button look="outline" onPress={writer.leaveLost}>
            {text.app.close}
          </Button>
        </div>
      )}
      {writer.newEmails.length > 0 && (
        <MovedOn
          emails={writer.newEmails}
          onSend={() => void writer.sendAfterNew()}
          onWrite={writer.acceptNew}
        />
      )}
      <div className="writer-foot">
        {maySend && (
          <Button look="primary" onPress={() => void writer.send()} isPending={isSending || isWaiting}>
            <Send size={16} aria-hidden />
            {text.write.send}
          </Button>
        )}
        {maySend && <SendLater label={text.write.sendLater} onChoose={(at) => void writer.send(at)} />}
        <AttachButton maxBytes={limits.attachment_bytes} onFiles={writer.attach} />
        <Templates accountId={props.accountId ?? fields.account_id} onChoose={takeTemplate} />
        <IconButton
          icon={isRich ? RemoveFormatting : Type}
          label={isRich ? text.write.toPlain : text.write.toRich}
          onPress={switchForm}
        />
        <p className="writer-state truncate" role="status">
          {states[state]}
        </p>
        <IconButton icon={Trash2} label={text.write.discard} onPress={() => void writer.discard()} />
      </div>
    </section>
  );
}
