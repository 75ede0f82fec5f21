/** The files of a draft: chosen, dropped or pasted, and taken away again. */
import type { Attachment } from 'email-worker-client';
import { LoaderCircle, Paperclip, X } from 'lucide-react';
import { useRef } from 'react';
import { useWords } from '../../i18n/index.tsx';
import { IconButton } from '../../ui/button.tsx';

export interface PendingFile {
  readonly id: number;
  readonly file: File;
}

interface FileListProps {
  readonly files: readonly Attachment[];
  /** Files that are on their way to the service. */
  readonly pending: readonly PendingFile[];
  readonly onRemove: (file: Attachment) => void;
}

export function DraftFiles({ files, pending, onRemove }: FileListProps) {
  const { text, format } = useWords();
  if (files.length + pending.length === 0) return null;
  return (
    <ul className="writer-files" aria-label={text.write.files}>
      {files.map((file) => (
        <li key={file.id} className="writer-file">
          <Paperclip size={14} aria-hidden />
          <span className="truncate">{file.filename}</span>
          <span className="writer-file-size">{format.size(file.size_bytes)}</span>
          <IconButton icon={X} label={text.write.removeFile(file.filename)} onPress={() => onRemove(file)} />
        </li>
      ))}
      {pending.map(({ id, file }) => (
        <li key={id} className="writer-file" aria-busy>
          <LoaderCircle size={14} aria-hidden />
          <span className="truncate">{file.name}</span>
          <span className="writer-file-size">{text.write.attaching}</span>
        </li>
      ))}
    </ul>
  );
}

export function AttachButton({ onFiles }: { readonly onFiles: (files: readonly File[]) => void }) {
  const { text } = useWords();
  const input = useRef<HTMLInputElement>(null);
  return (
    <>
      <input
        ref={input}
        type="file"
        multiple
        hidden
        aria-label={text.write.attach}
        onChange={({ target }) => {
          onFiles([...(target.files ?? [])]);
          // The same file can be chosen again.
          target.value = '';
        }}
      />
      <IconButton icon={Paperclip} label={text.write.attach} onPress={() => input.current?.click()} />
    </>
  );
}
