/** The files of a draft: being uploaded, attached, and removed again. */
import type { DraftAttachment } from 'email-worker-client';
import { Image, Paperclip, RotateCw, X } from '../../ui/icons.tsx';
import { useRef, type Ref } from 'react';
import { useWords } from '../../i18n/index.tsx';
import { IconButton } from '../../ui/button.tsx';
import { Middle } from '../../ui/middle.tsx';
import { shown } from '../../ui/shown.ts';
import type { Upload } from './upload-queue.ts';

interface FileListProps {
  readonly files: readonly DraftAttachment[];
  readonly uploads: readonly Upload[];
  /** The size of all files together, including images in the text. */
  readonly totalBytes: number;
  readonly maxBytes: number;
  readonly onRemove: (file: DraftAttachment) => void;
  readonly onCancel: (upload: Upload) => void;
  readonly onRetry: (upload: Upload) => void;
}

export function DraftFiles(props: FileListProps) {
  const { files, uploads, totalBytes, maxBytes, onRemove, onCancel, onRetry } = props;
  const { text, format } = useWords();
  if (files.length + uploads.length === 0) return null;
  return (
    <div className="writer-files">
      <ul aria-label={text.write.files}>
        {files.map((file) => (
          <li key={file.id} className="writer-file">
            <Paperclip size={14} aria-hidden />
            <span className="writer-file-name">
              <Middle is="file">{shown(file.filename)}</Middle>
            </span>
            <span className="writer-file-size">{format.size(file.size_bytes)}</span>
            <IconButton
              icon={X}
              label={text.write.removeFile(file.filename)}
              onPress={() => onRemove(file)}
            />
          </li>
        ))}
        {uploads.map((upload) => (
          <UploadItem key={upload.id} upload={upload} onCancel={onCancel} onRetry={onRetry} />
        ))}
      </ul>
      <p className="writer-files-total">
        {text.write.filesTotal(format.size(totalBytes), format.size(maxBytes))}
      </p>
    </div>
  );
}

interface UploadItemProps {
  readonly upload: Upload;
  readonly onCancel: (upload: Upload) => void;
  readonly onRetry: (upload: Upload) => void;
}

function UploadItem({ upload, onCancel, onRetry }: UploadItemProps) {
  const { text, format } = useWords();
  const { file, contentId, state, sentBytes, problem } = upload;
  const Icon = contentId === null ? Paperclip : Image;
  const share = file.size === 0 ? 1 : Math.min(1, sentBytes / file.size);
  return (
    <li className="writer-file" data-state={state} aria-busy={state !== 'failed'}>
      <Icon size={14} aria-hidden />
      <span className="writer-file-name">
        <Middle is="file">{file.name}</Middle>
      </span>
      {state === 'sending' || state === 'storing' ? (
        <>
          <progress
            aria-label={text.write.uploading(file.name)}
            // Without a value the bar only shows that something is happening.
            {...(state === 'sending' ? { value: share, max: 1 } : {})}
          />
          <span className="writer-file-size writer-file-share">
            {state === 'sending' ? format.share(share) : text.write.storing}
          </span>
        </>
      ) : (
        <span className="writer-file-size" role={problem === null ? undefined : 'alert'}>
          {problem === null
            ? { waiting: text.write.uploadWaits, offline: text.write.uploadOffline, failed: '' }[state]
            : text.write.uploadProblems[problem]}
        </span>
      )}
      {state === 'failed' && problem !== 'refused' && problem !== 'gone' && (
        <IconButton
          icon={RotateCw}
          label={text.write.uploadAgain(file.name)}
          onPress={() => onRetry(upload)}
        />
      )}
      <IconButton
        icon={X}
        label={state === 'failed' ? text.write.removeFile(file.name) : text.write.cancelUpload(file.name)}
        onPress={() => onCancel(upload)}
      />
    </li>
  );
}

interface AttachButtonProps {
  /** The largest total size of all files. */
  readonly maxBytes: number;
  readonly onFiles: (files: readonly File[]) => void;
}

export function AttachButton({ maxBytes, onFiles }: AttachButtonProps) {
  const { text, format } = useWords();
  const input = useRef<HTMLInputElement>(null);
  return (
    <>
      <FileInput ref={input} label={text.write.attach} onFiles={onFiles} />
      <IconButton
        icon={Paperclip}
        label={text.write.attachUpTo(format.size(maxBytes))}
        onPress={() => input.current?.click()}
      />
    </>
  );
}

interface FileInputProps {
  readonly ref: Ref<HTMLInputElement>;
  readonly label: string;
  readonly accept?: string;
  readonly onFiles: (files: readonly File[]) => void;
}

/** The browser's own file dialog, which a button opens. */
export function FileInput({ ref, label, accept, onFiles }: FileInputProps) {
  return (
    <input
      ref={ref}
      type="file"
      multiple
      hidden
      aria-label={label}
      {...(accept === undefined ? {} : { accept })}
      onChange={({ target }) => {
        onFiles([...(target.files ?? [])]);
        // Allows the same file to be chosen again.
        target.value = '';
      }}
    />
  );
}
