/** The files of an email: images as previews, others by name and size. */
import type { AttachmentDetail } from 'email-worker-client';
import {
  Download,
  File,
  FileArchive,
  FileImage,
  FileSpreadsheet,
  FileText,
  type LucideIcon,
} from 'lucide-react';
import { createElement, useState } from 'react';
import { useWords } from '../../i18n/index.tsx';
import { shown } from '../../ui/shown.ts';

/** Types that the service sends for display, and that a browser only displays. */
const PREVIEWED = new Set(['image/png', 'image/jpeg', 'image/gif', 'image/webp']);
/** Larger images are loaded only when the reader asks for them. */
const MAX_PREVIEW_BYTES = 5_000_000;

function iconOf({ content_type: type, filename }: AttachmentDetail): LucideIcon {
  if (type.startsWith('image/')) return FileImage;
  if (type === 'application/pdf' || type.startsWith('text/')) return FileText;
  if (/\.(xlsx?|ods|csv)$/i.test(filename)) return FileSpreadsheet;
  if (/\.(zip|gz|7z|rar|tar)$/i.test(filename)) return FileArchive;
  return File;
}

interface AttachmentsProps {
  readonly files: readonly AttachmentDetail[];
}

export function Attachments({ files }: AttachmentsProps) {
  const { text } = useWords();
  if (files.length === 0) return null;
  return (
    <ul
      className="files"
      aria-label={files.length === 1 ? text.thread.oneFile : text.thread.files(String(files.length))}
    >
      {files.map((file) => (
        <li key={file.id}>
          <FileCard file={file} />
        </li>
      ))}
    </ul>
  );
}

function FileCard({ file }: { readonly file: AttachmentDetail }) {
  const { text, format } = useWords();
  const name = shown(file.filename);
  const [isBroken, setBroken] = useState(false);
  const address = `/api/attachments/${file.id}`;
  const isPreviewed = PREVIEWED.has(file.content_type) && file.size_bytes <= MAX_PREVIEW_BYTES && !isBroken;
  const opens = isPreviewed || file.content_type === 'application/pdf';
  return (
    <div className="file">
      <a
        className="file-main"
        href={opens ? `${address}?disposition=inline` : address}
        {...(opens ? { target: '_blank', rel: 'noopener noreferrer' } : { download: name })}
        title={opens ? text.thread.preview(name) : text.thread.download(name)}
      >
        {isPreviewed ? (
          <img
            className="file-preview"
            src={`${address}?disposition=inline`}
            alt=""
            loading="lazy"
            decoding="async"
            onError={() => setBroken(true)}
          />
        ) : (
          <span className="file-icon">
            {createElement(iconOf(file), { size: 18, strokeWidth: 1.5, 'aria-hidden': true })}
          </span>
        )}
        <span className="file-text">
          <span className="truncate">{name}</span>
          <span className="file-size">{format.size(file.size_bytes)}</span>
        </span>
      </a>
      {opens && (
        <a
          className="button button-icon"
          href={address}
          download={name}
          aria-label={text.thread.download(name)}
        >
          <Download size={16} strokeWidth={1.75} aria-hidden />
        </a>
      )}
    </div>
  );
}
