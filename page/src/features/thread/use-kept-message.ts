/**
 * Where a thread is opened: where the reader left it, unless an email came since; else at its newest email. Emails grow while they load, so
 * the place is sought again until the reader moves.
 */
import { useEffect, useLayoutEffect, useRef, type RefObject } from 'react';
import { keepPlace, keptPlace, onReaderInput } from '../../app/kept-places.ts';

interface Place {
  /** The email at the top of the pane. */
  readonly email: string;
  /** Pixels of it above the pane. */
  readonly hidden: number;
  readonly newest: string;
}

/** A bit of the previous email stays in sight, to show that there is one. */
const PEEK_PX = 72;

/** @param newest undefined: the emails are not there yet */
export function useKeptMessage(
  threadId: string,
  newest: string | undefined,
  paneRef: RefObject<HTMLDivElement | null>,
): void {
  const name = `thread ${threadId}`;
  const latest = useRef(newest);
  useLayoutEffect(() => {
    latest.current = newest;
  });
  const isThere = newest !== undefined;
  const wanted = useRef<Place | null>(null);
  useLayoutEffect(() => {
    const pane = paneRef.current;
    if (!isThere || pane === null) return;
    const kept = keptPlace<Place>(name);
    wanted.current = kept?.newest === latest.current ? kept : null;
    if (!seek(pane, wanted.current)) startAtNewest(pane);
  }, [name, isThere, paneRef]);
  useEffect(() => {
    const pane = paneRef.current;
    const content = pane?.querySelector('.conversation') ?? null;
    if (!isThere || pane === null || content === null) return undefined;
    const watching = new ResizeObserver(() => seek(pane, wanted.current));
    watching.observe(content);
    const keep = (): void => {
      if (wanted.current === null) keepPlace(name, placeIn(pane, latest.current ?? ''));
    };
    pane.addEventListener('scroll', keep, { passive: true });
    const stop = onReaderInput(pane, () => (wanted.current = null));
    return () => {
      watching.disconnect();
      pane.removeEventListener('scroll', keep);
      stop();
    };
  }, [name, isThere, paneRef]);
}

const messagesIn = (pane: HTMLElement) => pane.querySelectorAll<HTMLElement>('.message');

function placeIn(pane: HTMLElement, newest: string): Place | null {
  const { top } = pane.getBoundingClientRect();
  for (const message of messagesIn(pane)) {
    const box = message.getBoundingClientRect();
    if (box.bottom > top) return { email: message.dataset['email'] ?? '', hidden: top - box.top, newest };
  }
  return null;
}

/** False when the place is not there. */
function seek(pane: HTMLElement, place: Place | null): boolean {
  const message = [...messagesIn(pane)].find(({ dataset }) => dataset['email'] === place?.email);
  if (place === null || message === undefined) return false;
  const by = message.getBoundingClientRect().top + place.hidden - pane.getBoundingClientRect().top;
  if (Math.abs(by) >= 1) pane.scrollTop += by;
  return true;
}

/** When the conversation is longer than the pane, the newest email begins at the top of the pane. */
function startAtNewest(pane: HTMLElement): void {
  const newest = [...messagesIn(pane)].at(-1);
  if (newest === undefined) return;
  const top = newest.getBoundingClientRect().top - pane.getBoundingClientRect().top;
  pane.scrollTop = newest.previousElementSibling === null ? 0 : top - PEEK_PX;
}
