/** The files of an email: images as previews, others by name and size. */
import type { AttachmentDetail } from 'email-worker-client';
import {
  Disc,
  Download,
  File,
  FileArchive,
  FileImage,
  FileSpreadsheet,
  FileTerminal,
  FileText,
  FileWarning,
  Globe,
  Link2,
  ShieldAlert,
  type IconType,
} from '../../ui/icons.tsx';
import { createElement, useId, useState, type ReactNode } from 'react';
import { Button } from 'react-aria-components';
import { useWords } from '../../i18n/index.tsx';
import { Middle } from '../../ui/middle.tsx';
import { shown } from '../../ui/shown.ts';
import { lookOf, type FileKind, type FileLook } from './file-kinds.ts';

/** Types that the service sends for display, and that a browser only displays. */
const PREVIEWED = new Set(['image/png', 'image/jpeg', 'image/gif', 'image/webp']);
/** Larger images are loaded only when the reader asks for them. */
const MAX_PREVIEW_BYTES = 5_000_000;

const ICONS: Readonly<Record<FileKind, IconType>> = {
  image: FileImage,
  text: FileText,
  sheet: FileSpreadsheet,
  archive: FileArchive,
  other: File,
  program: FileTerminal,
  script: FileTerminal,
  shortcut: Link2,
  disk: Disc,
  web: Globe,
  macro: FileWarning,
};

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
  const look = lookOf(file.filename, file.content_type);
  const isSafe = look.danger === null && look.disguises.length === 0;
  const [isBroken, setBroken] = useState(false);
  const address = `/api/attachments/${file.id}`;
  const isSmall = file.size_bytes <= MAX_PREVIEW_BYTES;
  const isPreviewed = isSafe && PREVIEWED.has(file.content_type) && isSmall && !isBroken;
  const opens = isPreviewed || (isSafe && file.content_type === 'application/pdf');
  const content = (
    <>
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
        <span className="file-icon" data-is-bad={isSafe ? undefined : ''}>
          {createElement(ICONS[look.kind], { size: 18, strokeWidth: 1.5, 'aria-hidden': true })}
        </span>
      )}
      <span className="file-text">
        <Middle is="file">{name}</Middle>
        <span className="file-size">{format.size(file.size_bytes)}</span>
      </span>
    </>
  );
  if (!isSafe) {
    return (
      <Suspicious address={address} name={name} look={look}>
        {content}
      </Suspicious>
    );
  }
  return (
    <div className="file">
      <a
        className="file-main"
        href={opens ? `${address}?disposition=inline` : address}
        {...(opens ? { target: '_blank', rel: 'noopener noreferrer' } : { download: name })}
        title={opens ? text.thread.preview(name) : text.thread.download(name)}
      >
        {content}
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

interface SuspiciousProps {
  readonly address: string;
  readonly name: string;
  readonly look: FileLook;
  readonly children: ReactNode;
}

/** A file that is downloaded only after its reader was warned. */
function Suspicious({ address, name, look, children }: SuspiciousProps) {
  const { text } = useWords();
  const [isOpen, setOpen] = useState(false);
  const id = useId();
  const { danger, disguises, extension } = look;
  return (
    <div className="file file-bad">
      <Button
        className="file-main"
        aria-expanded={isOpen}
        aria-controls={id}
        onPress={() => setOpen(!isOpen)}
      >
        {children}
        <ShieldAlert size={16} strokeWidth={1.75} aria-label={text.thread.fileWarning} />
      </Button>
      {isOpen && (
        <div id={id} className="file-warning">
          <ul>
            {danger !== null && <li>{text.thread.fileDangers[danger]}</li>}
            {disguises.map((one) => (
              <li key={one}>{text.thread.fileDisguises[one](extension.toUpperCase())}</li>
            ))}
          </ul>
          <a className="button button-outline" href={address} download={name} onClick={() => setOpen(false)}>
            {text.thread.downloadAnyway}
          </a>
        </div>
      )}
    </div>
  );
}
