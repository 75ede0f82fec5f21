/** One email of a conversation: one line when folded, otherwise everything that belongs to it. */
import type { Address, ThreadEmail } from 'email-worker-client';
import { ChevronDown, Paperclip, ShieldAlert } from '../../ui/icons.tsx';
import { Fragment, Suspense, lazy, useState } from 'react';
import { Button } from 'react-aria-components';
import { useMay } from '../../app/session.tsx';
import { useWords } from '../../i18n/index.tsx';
import { Avatar } from '../../ui/avatar.tsx';
import { Middle } from '../../ui/middle.tsx';
import { shown } from '../../ui/shown.ts';
import { inFull, nameOf } from '../threads/rows.ts';
import { Marked } from '../search/marked.tsx';
import { Attachments } from './attachments.tsx';
import { MailFrame } from './mail-frame.tsx';
import { Marks } from './marks.tsx';
import type { Printed } from './use-print.ts';
import { PlainText } from './plain-text.tsx';

/** Loaded apart: few emails wait to be sent. */
const ChangeTime = lazy(() => import('../write/change-time.tsx'));
/** Loaded apart: few emails have one. */
const Invitation = lazy(() => import('./invitation.tsx'));
/** Loaded apart: few emails fail. */
const UndeliveredActs = lazy(() => import('../write/undelivered-acts.tsx'));
/** Loaded apart: few emails have either. */
const EmailOrigin = lazy(() => import('./email-origin.tsx'));
/** A send that goes out sooner is undone by its notice instead. */
const MIN_WAIT_MS = 60_000;

const isScheduled = ({ direction, state, next_attempt_at: next }: ThreadEmail): boolean =>
  direction === 'outbound' &&
  state === 'queued' &&
  next !== null &&
  Date.parse(next) - Date.now() > MIN_WAIT_MS;

interface MessageProps {
  readonly threadId: string;
  readonly email: ThreadEmail;
  readonly isOpenAtFirst: boolean;
  readonly printed: Printed;
  readonly onPrint: () => void;
}

export function Message({ threadId, email, isOpenAtFirst, printed, onPrint }: MessageProps) {
  const { text, format } = useWords();
  const maySend = useMay('send');
  const [isOpenOnScreen, setOpen] = useState(isOpenAtFirst);
  const isOpen = isOpenOnScreen || printed === 'all' || printed === email.id;
  const [isPlain, setPlain] = useState(false);
  const [areDetailsOpen, setDetailsOpen] = useState(false);
  const from = nameOf(email.from_address) || text.list.noSender;
  const files = email.email_attachments.filter(({ inline }) => !inline);
  return (
    <article
      className="message"
      data-direction={email.direction}
      data-is-open={isOpen ? '' : undefined}
      data-is-left-out={printed !== null && printed !== 'all' && printed !== email.id ? '' : undefined}
      data-email={email.id}
      aria-label={`${from}, ${format.full(email.date)}`}
    >
      <header className="message-head">
        <Avatar name={email.from_address.name} of={email.from_address.address} />
        <div className="message-who">
          <Button
            className="message-toggle"
            aria-expanded={isOpen}
            aria-label={`${isOpen ? text.thread.collapse : text.thread.expand}: ${from}, ${format.full(email.date)}`}
            onPress={() => setOpen(!isOpen)}
          />
          <p className="message-from">
            <span className="message-name truncate">
              {email.from_address.name === '' ? (
                <Middle is="address" of="people">
                  {from}
                </Middle>
              ) : (
                <Marked of="people">{from}</Marked>
              )}
            </span>
            {email.direction === 'outbound' && (email.author !== null || email.automatic === null) && (
              <span className="message-author truncate">
                {email.author === null
                  ? text.thread.authorUnknown
                  : text.thread.writtenBy(shown(email.author.name))}
              </span>
            )}
            {isOpen && email.from_address.name !== '' && (
              <span className="message-address">
                <Middle is="address" of="people">
                  {shown(email.from_address.address)}
                </Middle>
              </span>
            )}
          </p>
          {isOpen ? (
            <p className="message-to">
              <span className="truncate">
                {text.thread.to} {format.names(email.to_addresses.map(nameOf))}
                {email.cc_addresses.length > 0 &&
                  `, ${text.thread.cc} ${format.names(email.cc_addresses.map(nameOf))}`}
              </span>
              <Button
                className="details-button"
                aria-expanded={areDetailsOpen}
                aria-label={areDetailsOpen ? text.thread.hideDetails : text.thread.details}
                onPress={() => setDetailsOpen(!areDetailsOpen)}
              >
                <ChevronDown size={14} aria-hidden />
              </Button>
            </p>
          ) : (
            <p className="message-snippet truncate">
              <Marked>{shown(email.snippet)}</Marked>
            </p>
          )}
        </div>
        <div className="message-end">
          {!isOpen && email.sender_warnings.length > 0 && (
            <>
              <ShieldAlert className="message-deceptive" size={14} aria-hidden />
              <span className="hidden-text">{text.list.deceptive}</span>
            </>
          )}
          {!isOpen && files.length > 0 && (
            <>
              <Paperclip size={14} aria-hidden />
              <span className="hidden-text">{text.list.files}</span>
            </>
          )}
          <time className="message-time" dateTime={email.date} title={format.full(email.date)}>
            {isOpen ? format.full(email.date) : format.brief(email.date)}
          </time>
        </div>
      </header>
      {isOpen && (
        <div className="message-body">
          {areDetailsOpen && <Details email={email} />}
          <Marks email={email} />
          {(email.suggested_counterparty !== null || email.variant_count > 0) && (
            <Suspense>
              <EmailOrigin threadId={threadId} email={email} />
            </Suspense>
          )}
          {maySend && isScheduled(email) && (
            <Suspense>
              <ChangeTime emailId={email.id} />
            </Suspense>
          )}
          {(email.undelivered !== null || email.state === 'failed') && (
            <Suspense>
              <UndeliveredActs threadId={threadId} email={email} />
            </Suspense>
          )}
          {/* An answer from here says in its text what it is. */}
          {email.invitation !== null && email.direction === 'inbound' && (
            <Suspense>
              <Invitation threadId={threadId} email={email} invitation={email.invitation} />
            </Suspense>
          )}
          {/* A frame that is loaded only now would be empty on paper. */}
          {email.has_html && !isPlain && isOpenOnScreen ? (
            <MailFrame email={email} />
          ) : (
            <PlainText text={email.text_body} newText={email.reply_text} />
          )}
          <p className="message-tools">
            {email.has_html && (
              <Button className="plain-button" onPress={() => setPlain(!isPlain)}>
                {isPlain ? text.thread.rich : text.thread.plain}
              </Button>
            )}
            <Button className="plain-button" onPress={onPrint}>
              {text.thread.print}
            </Button>
          </p>
          {email.truncated && (
            <p className="message-cut">
              {text.thread.cut} <a href={`/api/emails/${email.id}/raw`}>{text.thread.openWhole}</a>
            </p>
          )}
          <Attachments files={files} />
        </div>
      )}
    </article>
  );
}

function Details({ email }: { readonly email: ThreadEmail }) {
  const { text } = useWords();
  const lines: readonly (readonly [string, readonly Address[]])[] = [
    [text.write.from, [email.from_address]],
    [text.thread.to, email.to_addresses],
    [text.thread.cc, email.cc_addresses],
    [text.thread.bcc, email.bcc_addresses],
    [text.thread.replyTo, email.reply_to_addresses],
  ];
  return (
    <dl className="details">
      {lines
        .filter(([, addresses]) => addresses.length > 0)
        .map(([name, addresses]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>
              {addresses.map((address, index) => (
                // An email may name an address twice.
                // oxlint-disable-next-line no-array-index-key
                <Fragment key={index}>
                  {index > 0 && ', '}
                  <bdi>{inFull(address)}</bdi>
                </Fragment>
              ))}
            </dd>
          </div>
        ))}
      {email.authentication !== null && (
        <div>
          <dt>{text.thread.authentication.label}</dt>
          <dd>{text.thread.authentication[email.authentication.verdict]}</dd>
        </div>
      )}
    </dl>
  );
}
