/**
 * Shows HTML of the settings as untrusted: in a frame without scripts, of known elements only, and nothing is loaded. The page's
 * Content-Security-Policy holds in the frame, and refuses styles in HTML; the frame gets them through its object model.
 */
import { useEffect, useRef } from 'react';
import { useLook } from '../../app/theme.ts';
import { isLaidOut, safeContent } from './safe-content.ts';
import { useSendAsWords } from './send-as-words.ts';

interface HtmlPreviewProps {
  readonly html: string;
  readonly title: string;
}

export function HtmlPreview({ html, title }: HtmlPreviewProps) {
  const { sendAs } = useSendAsWords();
  const look = useLook();
  const frame = useRef<HTMLIFrameElement>(null);
  // HTML that sets colours was written for a light background.
  const scheme = isLaidOut(html) ? 'light' : look;
  useEffect(() => {
    const element = frame.current;
    const place = element?.parentElement;
    if (element === null || place === null || place === undefined) return undefined;
    const show = (): void => {
      const inner = element.contentDocument;
      if (inner?.body === undefined || inner.body === null) return;
      const { color, font } = getComputedStyle(place);
      inner.documentElement.style.cssText = `color-scheme: ${scheme}; overflow: hidden`;
      inner.body.style.cssText = `display: flow-root; margin: 0; padding: ${scheme === look ? 0 : 8}px; width: max-content; max-width: 100%; overflow-wrap: anywhere`;
      inner.body.style.font = font;
      inner.body.style.color = scheme === look ? color : 'CanvasText';
      inner.body.replaceChildren(safeContent(html, inner, sendAs.image));
      // The preview has a distance of its own.
      inner.body.querySelector<HTMLElement>(':scope > :first-child')?.style.setProperty('margin-top', '0');
      inner.body.querySelector<HTMLElement>(':scope > :last-child')?.style.setProperty('margin-bottom', '0');
      // The size of an image is known later.
      for (const image of inner.images) image.addEventListener('load', fit);
      fit();
    };
    const fit = (): void => {
      const body = element.contentDocument?.body;
      if (body === undefined || body === null) return;
      // Wide tables scroll in the preview.
      element.style.width = '100%';
      element.style.width = `${Math.max(place.clientWidth, body.scrollWidth)}px`;
      element.style.height = `${Math.ceil(body.getBoundingClientRect().height)}px`;
    };
    show();
    element.addEventListener('load', show);
    const observer = new ResizeObserver(fit);
    observer.observe(place);
    return () => {
      element.removeEventListener('load', show);
      observer.disconnect();
    };
  }, [html, look, scheme, sendAs]);
  return (
    <iframe
      ref={frame}
      className="html-preview"
      title={title}
      sandbox="allow-same-origin"
      srcDoc="<!doctype html><title>HTML</title>"
      tabIndex={-1}
    />
  );
}
