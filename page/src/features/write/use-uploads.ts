/** The uploads of a writer, and the addresses of the images in its text. */
import type { Draft } from 'email-worker-client';
import { useEffect, useRef, useState } from 'react';
import { useWords } from '../../i18n/index.tsx';
import { notify } from '../../ui/toast.tsx';
import type { ImageSources } from './inline-image.ts';
import { UploadQueue, type Upload, type UploadTarget } from './upload-queue.ts';

export function useUploads(draft: Draft | null, target: UploadTarget) {
  const { text, format } = useWords();
  const [uploads, setUploads] = useState<readonly Upload[]>([]);
  const [queue] = useState(() => new UploadQueue(target, setUploads));
  const [images] = useState(() => imagesOf(draft));
  const leave = useRef<() => void>(() => undefined);
  useEffect(() => {
    leave.current = () => {
      const names = queue.cancelAll();
      if (names.length > 0) notify(text.write.leftBehind(format.names(names)));
      for (const source of images.values()) URL.revokeObjectURL(source);
    };
  });
  useEffect(() => () => leave.current(), []);
  const isOnTheWay = uploads.length > 0;
  useEffect(() => {
    if (!isOnTheWay) return undefined;
    const ask = (event: BeforeUnloadEvent): void => event.preventDefault();
    addEventListener('beforeunload', ask);
    return () => removeEventListener('beforeunload', ask);
  }, [isOnTheWay]);
  return { uploads, queue, images };
}

/** The images that the draft already has, as the service shows them. */
function imagesOf(draft: Draft | null): ImageSources {
  const sources: ImageSources = new Map();
  for (const { id, content_id: contentId } of draft?.attachments ?? [])
    if (contentId !== null && draft !== null)
      sources.set(contentId, `/api/drafts/${draft.id}/attachments/${id}?disposition=inline`);
  return sources;
}
