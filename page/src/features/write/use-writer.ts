/** The state of a writer: keeps the text as a draft, sends it, which can be undone for some seconds, and discards it. */
import { useQueryClient, type QueryClient } from '@tanstack/react-query';
import {
  EmailWorkerError,
  type Address,
  type Draft,
  type DraftAttachment,
  type DraftRequest,
  type NewEmail,
  type ReplyPreview,
} from 'email-worker-client';
import { useEffect, useRef, useState } from 'react';
import { useSession } from '../../app/session.tsx';
import { client } from '../../api/client.ts';
import { addressesQuery, keys } from '../../api/queries.ts';
import type { Session } from '../../api/session.ts';
import { refreshLists } from '../../api/live.ts';
import { reasonOf } from '../../api/failure.ts';
import { useWords } from '../../i18n/index.tsx';
import { notify } from '../../ui/toast.tsx';
import { trimEntries } from './addresses.ts';
import { accountOf, deviceCopies } from './device-copies.ts';
import { discardLater } from './discarded-drafts.ts';
import { draftStore } from './draft-store.ts';
import {
  DraftKeeper,
  toKept,
  type Answers,
  type Fields,
  type Files,
  type KeeperState,
} from './draft-keeper.ts';
import { newContentId, placeOf } from './inline-image.ts';
import { addressesIn, concernsAbout, type Concern, type Recipient } from './concerns.ts';
import { speaksOfFile } from './missing-file.ts';
import { chosenSender, type Sender } from './senders.ts';
import { isOnTheWay, type Upload } from './upload-queue.ts';
import { useUploads } from './use-uploads.ts';
import {
  givenBy,
  isUnfinished,
  takenBack,
  toMessage,
  type SenderProblem,
  type WriterFields,
} from './writer-fields.ts';

export interface WriterOptions {
  readonly author: string;
  /** The email that the message answers; null: none. */
  readonly answers: Answers | null;
  /** The preview of the parts that the service adds to an answer. */
  readonly preview: ReplyPreview | null;
  /** The draft that is continued; null: a new one is begun. */
  readonly draft: Draft | null;
  readonly initial: WriterFields;
  /** All that the message may go out as. */
  readonly senders: readonly Sender[];
  /** The sender that the service uses for an answer; null: From of the account. */
  readonly usualSender: Address | null;
  readonly needsSubject?: boolean;
  /** The customer of the thread; null: the thread has none, or is new. */
  readonly customerId: string | null;
  /** The email that the writer has seen as the newest of the thread; null: there is no thread. */
  readonly newestSeen: string | null;
  /** The account of the answered email. */
  readonly accountId?: string;
  /** The writer was left, and everything is stored. */
  readonly onKept: () => void;
  /** The draft no longer exists: it was sent or discarded. */
  readonly onEnd: () => void;
  /** The send was undone: there is a draft again. */
  readonly onTakenBack: (draft: Draft) => void;
  /** The thread has emails that the writer has not seen. */
  readonly onMovedOn: () => void;
}

/** The time in which a send can be undone. */
const UNDO_MS = 10_000;
/** The notice disappears a little earlier, so that a person who is late is not told that it worked. */
const UNDO_SHOWN_MS = 9000;

const isRefused = (error: unknown, ...codes: readonly string[]): boolean =>
  error instanceof EmailWorkerError && error.code !== null && codes.includes(error.code);

export function useWriter(options: WriterOptions) {
  const { author, preview, draft, initial, onEnd, onTakenBack } = options;
  const { text, format, language } = useWords();
  const queryClient = useQueryClient();
  const [state, setState] = useState<KeeperState>(draft === null ? 'idle' : 'saved');
  const [problem, setProblem] = useState<string | null>(null);
  const [senderProblem, setSenderProblem] = useState<SenderProblem | null>(null);
  const [isSending, setSending] = useState(false);
  /** True while a send waits for files on their way. */
  const [isWaiting, setWaiting] = useState(false);
  const [fields, setFields] = useState(initial);
  const [files, setFiles] = useState<readonly DraftAttachment[]>(draft?.attachments ?? []);
  /** True if the files were lost with the draft, which another window discarded or sent. */
  const [areFilesLost, setFilesLost] = useState(false);
  const [concerns, setConcerns] = useState<readonly string[]>([]);
  /** Emails that came into the thread meanwhile; the writer decides whether the answer goes out all the same. */
  const [newEmails, setNewEmails] = useState<readonly NewEmail[]>([]);
  const ifNewest = useRef(options.newestSeen);
  /** Concerns that the writer has already seen, and may accept. */
  const told = useRef(new Set<string>());
  /** The time for sending; null: now. */
  const wantedAt = useRef<Date | null>(null);
  const [answers, setAnswers] = useState(options.answers);
  const base: DraftRequest = {
    author,
    ...(answers === null ? {} : { answers: toKept(answers) }),
    // A draft that exists has its own choice.
    ...(draft === null ? { message: { signature: initial.signature } } : {}),
  };
  const { limits, ...session } = useSession();
  /** What the account sends as has changed since it was read. */
  const onRefusedSender = (): void => {
    setSenderProblem('refused');
    void queryClient.invalidateQueries({ queryKey: keys.accounts });
  };
  const [keeper] = useState(
    () =>
      // The list of drafts can then show the recipients of an answer.
      new DraftKeeper(
        answers === null ? base : { ...base, message: { ...base.message, ...givenBy(initial) } },
        draft,
        {
          drafts: draftStore,
          copies: deviceCopies,
          account: accountOf(session),
          isOurs: () => {
            const now = queryClient.getQueryData<Session | null>(keys.session);
            return now ? accountOf(now) === accountOf(session) : false;
          },
          key: newContentId(),
          tell: setState,
          onLost: (isKept, lost) => {
            setFiles([]);
            setFilesLost(lost.length > 0);
            if (isKept)
              notify(
                lost.length > 0 ? `${text.write.ownDraft} ${text.write.filesLost}` : text.write.ownDraft,
              );
          },
          onRefusedSender,
        },
      ),
  );
  const onKept = useRef(options.onKept);
  useEffect(() => {
    onKept.current = options.onKept;
  });
  // The text is kept when the reader leaves, and the draft is found again on return.
  useEffect(() => {
    keeper.open();
    const saveNow = (): void => void keeper.saveNow();
    // A hidden page may end without another event.
    document.addEventListener('visibilitychange', saveNow);
    addEventListener('pagehide', saveNow);
    return () => {
      document.removeEventListener('visibilitychange', saveNow);
      removeEventListener('pagehide', saveNow);
      void keeper.close().then(() => onKept.current());
    };
  }, [keeper]);

  /** A draft belongs to its account from the beginning. */
  const sender = fields.account_id === undefined ? {} : { account_id: fields.account_id };

  const change = (changed: Partial<WriterFields>): void => {
    setFields((those) => ({ ...those, ...changed }));
    setProblem(null);
    setConcerns([]);
    if (changed.from !== undefined) setSenderProblem(null);
    keeper.change({ ...sender, ...toMessage(changed) });
  };

  const accountId = options.accountId ?? fields.account_id;
  const account = useRef(accountId);
  useEffect(() => {
    account.current = accountId;
  });
  const from = chosenSender(options.senders, { accountId, from: fields.from, usual: options.usualSender });
  const { uploads, queue, images } = useUploads(draft, {
    accountId: () => account.current,
    attach: async (file) =>
      setFiles(await keeper.setFiles((kept) => [...kept.map(({ id }) => ({ id })), file])),
  });
  const forwarded = answers?.with_files === true ? (preview?.attachments ?? []) : [];
  const totalBytes =
    [...files, ...forwarded].reduce((sum, { size_bytes }) => sum + size_bytes, 0) +
    uploads.reduce((sum, { file }) => sum + file.size, 0);
  /** A forward may also go out without words if it contains something else. */
  const mayBeEmpty = answers?.kind === 'forward' && (answers.quote || forwarded.length > 0);

  /** Reports a problem when the files are too many or too large. */
  const hasRoom = (added: readonly File[]): boolean => {
    const bytes = added.reduce((sum, { size }) => sum + size, totalBytes);
    const isTooLarge = bytes > limits.attachment_bytes;
    const count = files.length + forwarded.length + uploads.length + added.length;
    const isTooMany = count > limits.attachments;
    setProblem(
      isTooLarge
        ? text.write.tooLarge(format.size(limits.attachment_bytes))
        : isTooMany
          ? text.write.tooMany(format.count(limits.attachments))
          : null,
    );
    return !isTooLarge && !isTooMany;
  };

  /** Changes whether the answered email and its files are included. */
  const changeAnswers = (changed: Pick<Answers, 'quote'> | Pick<Answers, 'with_files'>): void => {
    if (answers === null) return;
    const next = { ...answers, ...changed };
    setAnswers(next);
    setProblem(null);
    setConcerns([]);
    keeper.setAnswers(next);
  };

  const attach = (added: readonly File[]): void => {
    if (added.length === 0 || !hasRoom(added)) return;
    setConcerns([]);
    keeper.change(sender);
    for (const file of added) queue.add(file, null);
  };

  /** Returns the Content-ID by which the text shows the image; null: there is no room. */
  const addImage = (file: File): string | null => {
    if (!hasRoom([file])) return null;
    const contentId = newContentId();
    images.set(contentId, URL.createObjectURL(file));
    keeper.change(sender);
    queue.add(file, contentId);
    return contentId;
  };

  const keepFiles = async (isKept: (file: DraftAttachment) => boolean): Promise<void> =>
    setFiles(await keeper.setFiles((kept) => kept.filter(isKept).map(({ id }) => ({ id }))));

  const remove = async (file: DraftAttachment): Promise<void> => {
    try {
      await keepFiles(({ id }) => id !== file.id);
    } catch {
      setProblem(text.thread.changeFailed);
    }
  };

  const isDropped = ({ content_id: contentId }: DraftAttachment): boolean =>
    placeOf(contentId, fields.html_body) === 'dropped';

  const lack = (): string | null => {
    if (`${fields.to}${fields.cc}${fields.bcc}`.trim() === '') return text.write.noRecipient;
    if (options.needsSubject === true && fields.subject.trim() === '') return text.write.noSubject;
    if (!mayBeEmpty && fields.text_body.trim() === '') return text.write.noText;
    return uploads.every(isOnTheWay) ? null : text.write.filesFailed;
  };

  /** `isHopeless`: no recipient takes mail, so nothing would be sent. */
  const findConcerns = async (): Promise<{
    readonly words: readonly string[];
    readonly isHopeless: boolean;
  }> => {
    const asked = addressesIn(fields.to, fields.cc, fields.bcc);
    const answers = await Promise.all(asked.map((address) => findAddress(queryClient, address)));
    const hasFiles = files.length + uploads.length + forwarded.length > 0;
    const isFileMissing = !hasFiles && speaksOfFile(`${fields.subject}\n${fields.text_body}`);
    const found: readonly Concern[] = [
      ...concernsAbout(
        answers.flatMap((known) => known ?? []),
        options.customerId,
      ),
      ...(isFileMissing ? [{ kind: 'no_file' } as const] : []),
    ];
    const refused = found.filter(({ kind }) => kind === 'suppressed');
    const words = found.map((concern) => {
      switch (concern.kind) {
        case 'no_file':
          return text.write.noFile;
        case 'suppressed':
          return text.write.isSuppressed(concern.address);
        case 'other_customer':
          return concern.customer === null
            ? text.write.otherCustomer(concern.address)
            : text.write.ofCustomer(concern.address, concern.customer);
      }
    });
    return { words, isHopeless: asked.length > 0 && refused.length === asked.length };
  };

  const takeBack = async (emailId: string): Promise<void> => {
    try {
      await client.emails.cancel(emailId);
    } catch {
      notify(text.write.tooLate);
      return;
    }
    const attachments = await recorded(
      emailId,
      files.filter((file) => !isDropped(file)),
    );
    const message = takenBack(draft?.message, fields);
    const make = (again: Fields) => client.drafts.create({ ...base, message: again, attachments });
    onTakenBack(
      await make(message).catch((error: unknown) => {
        // The email is cancelled already: its text must be somewhere.
        if (isRefused(error, 'forbidden_from')) return make({ ...message, from: null });
        throw error;
      }),
    );
    refreshLists(queryClient);
    notify(text.write.undone);
  };

  /** Sends at a moment, or now. Each concern is shown once. */
  const send = async (at: Date | null = null): Promise<void> => {
    if (isSending) return;
    setWaiting(false);
    wantedAt.current = at;
    const lacking = lack();
    setProblem(lacking);
    const isSenderUnfinished = isUnfinished(fields.from);
    if (isSenderUnfinished) setSenderProblem('unfinished');
    if (lacking !== null || isSenderUnfinished) return;
    setSending(true);
    const { words: found, isHopeless } = await findConcerns();
    if (isHopeless) {
      setConcerns([]);
      setProblem(found.join(' '));
      setSending(false);
      return;
    }
    if (found.some((concern) => !told.current.has(concern))) {
      for (const concern of found) told.current.add(concern);
      setConcerns(found);
      setSending(false);
      return;
    }
    if (queue.isBusy) {
      setWaiting(true);
      setSending(false);
      return;
    }
    try {
      if (files.some(isDropped)) await keepFiles((file) => !isDropped(file));
      const message: Fields = {
        ...toMessage(fields),
        to: trimEntries(fields.to),
        cc: trimEntries(fields.cc),
        bcc: trimEntries(fields.bcc),
        // The one that is shown, whatever the service would choose by now.
        ...(from === null ? {} : { from: fields.from ?? from.address }),
        send_at: (at ?? new Date(Date.now() + UNDO_MS)).toISOString(),
      };
      const { id, version } = await keeper.flush(message);
      const sent = await client.drafts.send(
        id,
        version,
        ifNewest.current === null ? {} : { ifNewest: ifNewest.current },
      );
      keeper.forget();
      onEnd();
      notify(at === null ? text.write.willSend : text.thread.scheduled(format.full(at.toISOString())), {
        action: {
          label: text.app.undo,
          run: () => {
            if ('id' in sent) void takeBack(sent.id).catch(() => notify(text.write.notSaved));
            else notify(text.write.tooLate);
          },
        },
        lastsMs: UNDO_SHOWN_MS,
      });
      refreshLists(queryClient);
    } catch (error) {
      setSending(false);
      keeper.release();
      if (isRefused(error, 'thread_has_moved_on')) {
        setNewEmails((error as EmailWorkerError).newEmails);
        options.onMovedOn();
        return;
      }
      if (isRefused(error, 'forbidden_from')) {
        onRefusedSender();
        return;
      }
      const reason = error instanceof EmailWorkerError ? reasonOf(error, language) : '';
      setProblem(
        isRefused(error, 'draft_changed') ? text.write.elsewhere : `${text.write.failed} ${reason}`.trim(),
      );
    }
  };

  // The message goes out when its files have arrived; if one fails, the writer decides.
  const sendWaiting = useRef<() => void>(() => undefined);
  useEffect(() => {
    sendWaiting.current = () => void send(wantedAt.current);
  });
  const isBusy = uploads.some(isOnTheWay);
  useEffect(() => {
    if (isWaiting && !isBusy) sendWaiting.current();
  }, [isWaiting, isBusy]);

  const discard = async (): Promise<void> => {
    const { draft: stored, request } = await keeper.discard();
    const undo =
      stored === null
        ? () => true
        : discardLater(stored.id, UNDO_MS, {
            remove: (id) => client.drafts.delete(id, { keepalive: true }),
            onFailure: () => {
              notify(text.write.notDiscarded);
              refreshLists(queryClient);
            },
          });
    refreshLists(queryClient);
    onEnd();
    const restore = async (): Promise<void> => {
      if (!undo()) return;
      onTakenBack(
        stored === null
          ? await client.drafts.create(request)
          : await client.drafts.change(stored.id, stored.version, request),
      );
      refreshLists(queryClient);
    };
    notify(text.write.discarded, {
      action: {
        label: text.app.undo,
        run: () => void restore().catch(() => notify(text.write.notSaved)),
      },
      lastsMs: UNDO_SHOWN_MS,
    });
  };

  return {
    fields,
    from,
    senderProblem,
    answers,
    /** The files listed beside the text. */
    files: files.filter(({ content_id: contentId }) => placeOf(contentId, fields.html_body) === 'list'),
    uploads,
    totalBytes,
    images,
    state,
    problem,
    concerns,
    newEmails,
    areFilesLost,
    isSending,
    isWaiting,
    change,
    changeAnswers,
    attach,
    addImage,
    remove,
    retry: ({ id }: Upload) => queue.retry(id),
    cancel: ({ id }: Upload) => queue.cancel(id),
    stopWaiting: () => setWaiting(false),
    /** True if the writer may be closed; otherwise shows why not. */
    mayClose: (): boolean => {
      if (isBusy) setProblem(text.write.filesPending);
      return !isBusy;
    },
    send,
    sendAnyway: () => send(wantedAt.current),
    /** Sends after the emails that the writer has now seen. */
    sendAfterNew: () => {
      ifNewest.current = newEmails.at(-1)?.id ?? ifNewest.current;
      setNewEmails([]);
      return send(wantedAt.current);
    },
    /** The writer goes on, and has seen them. */
    acceptNew: () => {
      ifNewest.current = newEmails.at(-1)?.id ?? ifNewest.current;
      setNewEmails([]);
    },
    discard,
    /** Stores the text of a draft that another window discarded or sent. */
    keepLost: () => void keeper.keep(),
    /** Leaves that text. */
    leaveLost: (): void => {
      keeper.forget();
      onEnd();
    },
  };
}

/** The service's data about an address; null when there is none, or the request fails. A send does not fail for that. */
async function findAddress(queryClient: QueryClient, address: string): Promise<Recipient | null> {
  try {
    const found = await queryClient.fetchQuery(addressesQuery(address));
    return found.find((known) => known.address === address) ?? null;
  } catch {
    return null;
  }
}

/** The files of a draft that no longer exists, taken from the email that it became; files included by a forward are not among them. */
async function recorded(emailId: string, files: readonly DraftAttachment[]): Promise<Files> {
  if (files.length === 0) return [];
  const { email_attachments: rest } = await client.emails.get(emailId);
  return files.flatMap(({ filename, size_bytes, content_id }) => {
    const at = rest.findIndex(
      (file) =>
        file.filename === filename && file.size_bytes === size_bytes && file.content_id === content_id,
    );
    return rest.splice(at, at === -1 ? 0 : 1).map(({ id }) => ({ attachment_id: id, filename, content_id }));
  });
}
