/** What of a mailbox is recorded, as a form has it: one entry a line. */
import type { AccountSettings } from 'email-worker-client';

export type Capture = NonNullable<AccountSettings['capture']>;

export interface CaptureForm {
  /** Paths of mailboxes that the server listed. */
  readonly folders: readonly string[];
  /** Others, by name or pattern; one a line, as in the fields below. */
  readonly otherFolders: string;
  readonly neverAddresses: string;
  readonly neverSubjects: string;
  readonly leavesOutInternal: boolean;
  readonly internalDomains: string;
  readonly leavesOutPrivate: boolean;
  readonly onlyCustomers: boolean;
}

/** Mail that its sender marked as private is left out from the beginning: once it is recorded, many can read it. */
export const newCaptureForm = (domain: string): CaptureForm => ({
  folders: [],
  otherFolders: '',
  neverAddresses: '',
  neverSubjects: '',
  leavesOutInternal: false,
  internalDomains: domain,
  leavesOutPrivate: true,
  onlyCustomers: false,
});

/** @param domain is offered where no domain is set yet */
export const readCapture = (capture: Capture | null, domain: string): CaptureForm => ({
  folders: [],
  otherFolders: toText(capture?.folders),
  neverAddresses: toText(capture?.never_addresses),
  neverSubjects: toText(capture?.never_subjects),
  leavesOutInternal: (capture?.internal_domains ?? []).length > 0,
  internalDomains: toText(capture?.internal_domains) || domain,
  leavesOutPrivate: capture?.leave_out_private ?? false,
  onlyCustomers: capture?.only_customers ?? false,
});

/** null: everything in INBOX and the Sent mailbox. */
export function toCapture(form: CaptureForm): Capture | null {
  const capture: Capture = {
    folders: orNull([...new Set([...form.folders, ...linesOf(form.otherFolders)])]),
    never_addresses: orNull(linesOf(form.neverAddresses)),
    never_subjects: orNull(linesOf(form.neverSubjects)),
    internal_domains: form.leavesOutInternal ? orNull(linesOf(form.internalDomains)) : null,
    leave_out_private: form.leavesOutPrivate || null,
    only_customers: form.onlyCustomers || null,
  };
  return Object.values(capture).every((value) => value === null) ? null : capture;
}

export const linesOf = (text: string): string[] =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');

const toText = (lines: readonly string[] | null | undefined): string => (lines ?? []).join('\n');
const orNull = <T>(items: T[]): T[] | null => (items.length === 0 ? null : items);

interface Folder {
  readonly path: string;
  readonly special_use: string | null;
}

/** Without folders that are not shown: they were chosen of another server, or of another user. */
export const withShown = (form: CaptureForm, folders: readonly Folder[]): CaptureForm => ({
  ...form,
  folders: form.folders.filter((path) => folders.some((folder) => folder.path === path)),
});

/** Always read. */
const isAlwaysRead = ({ special_use: use }: Folder): boolean => use === '\\Inbox' || use === '\\Sent';
/** Seldom what is to be recorded. */
const LAST: ReadonlySet<string> = new Set(['\\Drafts', '\\Junk', '\\Trash']);

/** The mailboxes of a server: those that are always read, and those that people choose from, the unlikely ones last. */
export function sortFolders<T extends Folder>(folders: readonly T[]): { always: T[]; choice: T[] } {
  const choice = folders.filter((folder) => !isAlwaysRead(folder));
  const isLast = ({ special_use: use }: Folder): boolean => LAST.has(use ?? '');
  return {
    always: folders.filter(isAlwaysRead),
    choice: [...choice.filter((folder) => !isLast(folder)), ...choice.filter(isLast)],
  };
}
