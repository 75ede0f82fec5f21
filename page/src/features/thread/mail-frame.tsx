/**
 * The HTML of an email in a frame without scripts, as a document of the service with its own policy. The frame is as high as its content,
 * so that the conversation scrolls as one; images from other servers are loaded only when the reader asks for them.
 */
import { useQuery } from '@tanstack/react-query';
import type { ThreadEmail } from 'email-worker-client';
import { ImageOff, PaintbrushVertical } from '../../ui/icons.tsx';
import { useEffect, useRef, useState } from 'react';
import { safeHtmlQuery } from '../../api/queries.ts';
import { useLook } from '../../app/theme.ts';
import { useWords } from '../../i18n/index.tsx';
import { Button } from '../../ui/button.tsx';
import { shown } from '../../ui/shown.ts';
import { nameOf } from '../threads/rows.ts';
import { nextFit, scaleOf, type Fit } from './fit.ts';
import { eachOnce, LinkBar, type Disguised } from './link-bar.tsx';
import { allowRemote, isRemoteAllowed } from './remote-senders.ts';

/** The height before it is measured; most emails are at least this high. */
const FIRST_HEIGHT_PX = 120;
/** Higher emails scroll in their frame. */
const MAX_HEIGHT_PX = 20_000;
/** Content that is too wide scrolls in an element of its own, within the margin of the document. */
function widths(body: HTMLElement): readonly number[] {
  const { paddingLeft, paddingRight } = getComputedStyle(body);
  const margin = parseFloat(paddingLeft) + parseFloat(paddingRight);
  return [body.scrollWidth, ...[...body.children].map(({ scrollWidth }) => scrollWidth + margin)];
}

/** The service marks the links; the mail can't set these attributes. */
const disguisedIn = (mail: Document): readonly Disguised[] =>
  eachOnce(
    [...mail.querySelectorAll<HTMLElement>('a[data-link-host]')].map(({ dataset }) => ({
      shown: dataset.shownHost ?? '',
      host: dataset.linkHost ?? '',
    })),
  );

export function MailFrame({ email }: { readonly email: ThreadEmail }) {
  const { text } = useWords();
  const look = useLook();
  const { address } = email.from_address;
  // The sender of a forged address must not get the permission of its owner.
  const isProven = email.direction === 'outbound' || email.authentication?.verdict === 'passed';
  const [isRemote, setRemote] = useState(() => isProven && isRemoteAllowed(address));
  const { data } = useQuery(safeHtmlQuery(email.id));
  const [height, setHeight] = useState(FIRST_HEIGHT_PX);
  const [fit, setFit] = useState<Fit | null>(null);
  const [isLoaded, setLoaded] = useState(false);
  const [disguised, setDisguised] = useState<readonly Disguised[]>([]);
  /** True once Tab has reached the frame. */
  const [isMarked, setMarked] = useState(false);
  const frame = useRef<HTMLIFrameElement>(null);
  const observer = useRef<ResizeObserver | null>(null);
  useEffect(() => () => observer.current?.disconnect(), []);
  /** The listeners are removed with the document. */
  const listen = (mail: Document): void => {
    mail.addEventListener('keydown', (event) => passOn(event, frame.current));
    // CSS can't detect that an element in a frame has the focus.
    let isPointed = false;
    mail.addEventListener('pointerdown', () => {
      isPointed = true;
      setMarked(false);
    });
    mail.defaultView?.addEventListener('focus', () => setMarked(!isPointed));
    mail.defaultView?.addEventListener('blur', () => {
      isPointed = false;
      setMarked(false);
    });
  };
  const measure = (): void => {
    const body = frame.current?.contentDocument?.body;
    if (body === undefined || body === null) return;
    observer.current?.disconnect();
    setDisguised(disguisedIn(body.ownerDocument));
    const place = frame.current?.parentElement;
    const findFit = (): void => {
      const measured = {
        place: place?.clientWidth ?? 0,
        frame: body.ownerDocument.documentElement.clientWidth,
        mail: Math.max(...widths(body)),
      };
      setFit((now) => nextFit(now, measured));
    };
    observer.current = new ResizeObserver(() => {
      findFit();
      setHeight(Math.min(Math.ceil(body.getBoundingClientRect().height), MAX_HEIGHT_PX));
      setLoaded(true);
    });
    observer.current.observe(body);
    listen(body.ownerDocument);
    if (place !== null && place !== undefined) observer.current.observe(place);
  };
  const scale = scaleOf(fit);
  const query = new URLSearchParams({
    remote: isRemote ? 'allow' : 'block',
    theme: look,
  });
  return (
    <>
      <LinkBar links={disguised} />
      {data !== undefined && data.removed.style_sheets > 0 && (
        <div className="mark mark-bar">
          <PaintbrushVertical size={16} strokeWidth={1.75} aria-hidden />
          <p>{text.thread.stylesLeftOut}</p>
        </div>
      )}
      {!isRemote && data !== undefined && data.removed.remote_images > 0 && (
        <div className="mark mark-bar">
          <ImageOff size={16} strokeWidth={1.75} aria-hidden />
          <p>{text.thread.remoteBlocked(data.image_proxy)}</p>
          <div className="mark-acts">
            <Button look="outline" onPress={() => setRemote(true)}>
              {text.thread.showRemote}
            </Button>
            {isProven && (
              <Button
                look="outline"
                onPress={() => {
                  allowRemote(address);
                  setRemote(true);
                }}
              >
                {text.thread.showRemoteAlways(shown(address))}
              </Button>
            )}
          </div>
        </div>
      )}
      <div className="mail-surface">
        <div
          className="mail-frame-place"
          data-focus-visible={isMarked ? '' : undefined}
          style={{ height: height * scale }}
        >
          <iframe
            ref={frame}
            className="mail-frame"
            data-is-loaded={isLoaded ? '' : undefined}
            // Tab passes it until it can show that it has the focus.
            tabIndex={isLoaded ? undefined : -1}
            title={text.thread.htmlTitle(nameOf(email.from_address))}
            sandbox="allow-same-origin allow-popups allow-popups-to-escape-sandbox"
            src={`/api/emails/${email.id}/html?${query}`}
            style={
              fit === null || fit.state === 'fluid'
                ? { height }
                : { height, width: fit.place / scale, transform: `scale(${scale})` }
            }
            onLoad={measure}
          />
        </div>
      </div>
    </>
  );
}

/** Keys pressed in the mail act as they do around it. */
function passOn(event: KeyboardEvent, frame: HTMLIFrameElement | null): void {
  const { key, code, ctrlKey, metaKey, altKey, shiftKey } = event;
  const copy = { key, code, ctrlKey, metaKey, altKey, shiftKey, bubbles: true, cancelable: true };
  const isTaken = frame?.dispatchEvent(new KeyboardEvent('keydown', copy)) === false;
  if (isTaken) event.preventDefault();
}
