/** Names the true hosts of links that show other ones. It stands outside the mail, which can neither hide nor imitate it. */
import { ShieldAlert } from '../../ui/icons.tsx';
import { useWords } from '../../i18n/index.tsx';
import { shown as inOrder } from '../../ui/shown.ts';

/** A link whose text shows another site than the one it leads to. */
export interface Disguised {
  /** Empty when it can't be determined. */
  readonly shown: string;
  readonly host: string;
}

const MAX_DISGUISED = 5;

/** Each pair once. */
export const eachOnce = (links: readonly Disguised[]): readonly Disguised[] => [
  ...new Map(links.map((link) => [JSON.stringify([link.shown, link.host]), link])).values(),
];

export function LinkBar({ links }: { readonly links: readonly Disguised[] }) {
  const { text } = useWords();
  if (links.length === 0) return null;
  return (
    <div className="mark mark-bar mark-bad">
      <ShieldAlert size={16} strokeWidth={1.75} aria-hidden />
      <p>{text.thread.disguisedLinks}</p>
      <ul className="link-hosts">
        {links.slice(0, MAX_DISGUISED).map(({ shown, host }) => (
          <li key={`${shown} ${host}`}>{text.thread.disguisedLink(inOrder(shown), inOrder(host))}</li>
        ))}
        {links.length > MAX_DISGUISED && (
          <li>{text.thread.moreDisguised(String(links.length - MAX_DISGUISED))}</li>
        )}
      </ul>
    </div>
  );
}
