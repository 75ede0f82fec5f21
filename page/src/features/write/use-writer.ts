/** What is written, kept as a draft; sending it, which may be taken back for some seconds; and throwing it away. */
import { useQueryClient, type QueryClient } from '@tanstack/react-query';
import { EmailWorkerError, type Attachment, type Draft, type DraftRequest } from 'email-worker-client';
import { useEffect, useRef, useState } from 'react';
import { client } from '../../api/client.ts';
import { addressesQuery } from '../../api/queries.ts';
import { refreshLists } from '../../api/live.ts';
import { useWords } from '../../i18n/index.tsx';
import { notify } from '../../ui/toast.tsx';
import { trimEntries } from './addresses.ts';
import type { Body } from './body.ts';
import { DraftKeeper, type Fields, type Files, type KeeperState } from './draft-keeper.ts';
import type { PendingFile } from './files.tsx';
import { addressesIn, concernsAbout, type Concern, type Recipient } from './concerns.ts';
import { speaksOfFile } from './missing-file.ts';

export interface WriterFields extends Body {
  readonly to: string;
  readonly cc: string;
  readonly bcc: string;
  readonly subject: string;
  /** Absent: the one that answers, or the default. */
  readonly account_id?: string;
}

export interface WriterOptions {
  /** Whose it is and what it answers. */
  readonly base: DraftRequest;
  /** What is continued; null: begun anew. */
  readonly draft: Draft | null;
  readonly initial: WriterFields;
  readonly needsSubject?: boolean;
  /** Without words it goes out, too. */
  readonly mayBeEmpty?: boolean;
  /** Whose thread it is in; null: nobody's, or a new one. */
  readonly customerId: string | null;
  /** Files go along that are no files of the draft. */
  readonly hasOtherFiles?: boolean;
  /** It was left, and everything is stored. */
  readonly onKept: () => void;
  /** There is no draft any more: it was sent or thrown away. */
  readonly onEnd: () => void;
  /** It was sent, and then not: there is a draft again. */
  readonly onTakenBack: (draft: Draft) => void;
}

/** How long a send can be taken back. */
const UNDO_MS = 10_000;
/** The notice goes a little before, so that who is late is not told that it worked. */
const UNDO_SHOWN_MS = 9000;
/** What the service takes unless it is configured otherwise: 25 MiB for all files together. */
const MAX_FILE_BYTES = 25 * 1024 * 1024;

let lastPending = 0;

/** Where nothing is written, there is no HTML either. */
const toMessage = (fields: Partial<WriterFields>): Fields =>
  fields.html_body === '' ? { ...fields, html_body: null } : fields;

const isRefused = (error: unknown, ...codes: readonly string[]): boolean =>
  error instanceof EmailWorkerError && error.code !== null && codes.includes(error.code);

export function useWriter(options: WriterOptions) {
  const { base, draft, initial, onEnd, onTakenBack } = options;
  const { text, format } = useWords();
  const queryClient = useQueryClient();
  const [state, setState] = useState<KeeperState>(draft === null ? 'idle' : 'saved');
  const [problem, setProblem] = useState<string | null>(null);
  const [isSending, setSending] = useState(false);
  const [fields, setFields] = useState(initial);
  const [files, setFiles] = useState<readonly Attachment[]>(draft?.attachments ?? []);
  const [pending, setPending] = useState<readonly PendingFile[]>([]);
  const [concerns, setConcerns] = useState<readonly string[]>([]);
  /** What somebody was told, and may want so. */
  const told = useRef(new Set<string>());
  /** When it is to go out; null: now. */
  const wantedAt = useRef<Date | null>(null);
  const [keeper] = useState(() => new DraftKeeper(base, draft, setState));
  const onKept = useRef(options.onKept);
  useEffect(() => {
    onKept.current = options.onKept;
  });
  // The text is kept when the reader goes elsewhere, and the draft is found again when they come back.
  useEffect(() => {
    keeper.open();
    return () => void keeper.close().then(() => onKept.current());
  }, [keeper]);

  /** A draft is of its account from the beginning. */
  const sender = fields.account_id === undefined ? {} : { account_id: fields.account_id };

  const change = (changed: Partial<WriterFields>): void => {
    setFields((those) => ({ ...those, ...changed }));
    setProblem(null);
    setConcerns([]);
    keeper.change({ ...sender, ...toMessage(changed) });
  };

  const attach = async (added: readonly File[]): Promise<void> => {
    if (added.length === 0) return;
    const bytes =
      files.reduce((sum, { size_bytes }) => sum + size_bytes, 0) +
      [...pending.map(({ file }) => file), ...added].reduce((sum, { size }) => sum + size, 0);
    if (bytes > MAX_FILE_BYTES) {
      setProblem(text.write.tooLarge(format.size(MAX_FILE_BYTES)));
      return;
    }
    setProblem(null);
    setConcerns([]);
    setPending((those) => [...those, ...added.map((file) => ({ id: ++lastPending, file }))]);
    keeper.change(sender);
    try {
      setFiles(await keeper.setFiles((kept) => [...kept.map(({ id }) => ({ id })), ...added]));
    } catch (error) {
      setProblem(
        isRefused(error, 'attachments_too_large', 'payload_too_large', 'too_many_attachments')
          ? text.write.refusedFiles
          : isRefused(error, 'draft_changed')
            ? text.write.elsewhere
            : text.write.notAttached,
      );
    } finally {
      setPending((those) => those.filter(({ file }) => !added.includes(file)));
    }
  };

  const remove = async (file: Attachment): Promise<void> => {
    try {
      setFiles(
        await keeper.setFiles((kept) => kept.filter(({ id }) => id !== file.id).map(({ id }) => ({ id }))),
      );
    } catch {
      setProblem(text.thread.changeFailed);
    }
  };

  const lack = (): string | null => {
    if (`${fields.to}${fields.cc}${fields.bcc}`.trim() === '') return text.write.noRecipient;
    if (options.needsSubject === true && fields.subject.trim() === '') return text.write.noSubject;
    if (options.mayBeEmpty !== true && fields.text_body.trim() === '') return text.write.noText;
    return pending.length > 0 ? text.write.filesPending : null;
  };

  const findConcerns = async (): Promise<readonly string[]> => {
    const asked = addressesIn(fields.to, fields.cc, fields.bcc);
    const answers = await Promise.all(asked.map((address) => findAddress(queryClient, address)));
    const hasFiles = files.length > 0 || options.hasOtherFiles === true;
    const isFileMissing = !hasFiles && speaksOfFile(`${fields.subject}\n${fields.text_body}`);
    const found: readonly Concern[] = [
      ...concernsAbout(
        answers.flatMap((known) => known ?? []),
        options.customerId,
      ),
      ...(isFileMissing ? [{ kind: 'no_file' } as const] : []),
    ];
    return found.map((concern) => {
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
  };

  const takeBack = async (emailId: string): Promise<void> => {
    try {
      await client.emails.cancel(emailId);
    } catch {
      notify(text.write.tooLate);
      return;
    }
    const attachments = await recorded(emailId, files);
    onTakenBack(await client.drafts.create({ ...base, message: toMessage(fields), attachments }));
    refreshLists(queryClient);
    notify(text.write.undone);
  };

  /** At a moment, or now. What speaks against it is told once. */
  const send = async (at: Date | null = null): Promise<void> => {
    if (isSending) return;
    wantedAt.current = at;
    const lacking = lack();
    setProblem(lacking);
    if (lacking !== null) return;
    setSending(true);
    const found = await findConcerns();
    if (found.some((concern) => !told.current.has(concern))) {
      for (const concern of found) told.current.add(concern);
      setConcerns(found);
      setSending(false);
      return;
    }
    try {
      const message: Fields = {
        ...toMessage(fields),
        to: trimEntries(fields.to),
        cc: trimEntries(fields.cc),
        bcc: trimEntries(fields.bcc),
        send_at: (at ?? new Date(Date.now() + UNDO_MS)).toISOString(),
      };
      const { id, version } = await keeper.flush(message);
      const sent = await client.drafts.send(id, version);
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
      const reason = error instanceof EmailWorkerError ? error.text : '';
      setProblem(
        isRefused(error, 'draft_changed') ? text.write.elsewhere : `${text.write.failed} ${reason}`.trim(),
      );
    }
  };

  const discard = async (): Promise<void> => {
    try {
      await keeper.discard();
      refreshLists(queryClient);
      notify(text.write.discarded);
      onEnd();
    } catch {
      setProblem(text.thread.changeFailed);
    }
  };

  return {
    fields,
    files,
    pending,
    state,
    problem,
    concerns,
    isSending,
    change,
    attach,
    remove,
    send,
    sendAnyway: () => send(wantedAt.current),
    discard,
  };
}

/** What is known of an address; null where nothing is, or the service does not say. A send does not fail for that. */
async function findAddress(queryClient: QueryClient, address: string): Promise<Recipient | null> {
  try {
    const found = await queryClient.fetchQuery(addressesQuery(address));
    return found.find((known) => known.address === address) ?? null;
  } catch {
    return null;
  }
}

/** The files of a draft that is gone, as the email that it became has them; what a forward took along is not among them. */
async function recorded(emailId: string, files: readonly Attachment[]): Promise<Files> {
  if (files.length === 0) return [];
  const { email_attachments: those } = await client.emails.get(emailId);
  const rest = [...those];
  const ours = files.flatMap(({ filename, size_bytes }) => {
    const at = rest.findIndex((file) => file.filename === filename && file.size_bytes === size_bytes);
    return at === -1 ? [] : rest.splice(at, 1);
  });
  return Promise.all(
    ours.map(async ({ id, filename, content_type }) => {
      const download = await client.attachments.download(id);
      return { filename, content_type, content: await download.blob() };
    }),
  );
}
