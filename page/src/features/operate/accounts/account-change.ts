/**
 * What an operator changed of an account since it was opened. Only that is sent, so what a colleague changed meanwhile stays, unless both
 * changed the same.
 */
import type { Account, AccountChange, AccountSettings } from 'email-worker-client';
import { readAbsence, toAbsence, type AbsenceForm } from './absence-form.ts';
import { toCapture, type Capture, type CaptureForm } from './capture-form.ts';
import { fromWith } from './mailbox-form.ts';

export interface AddressRow {
  readonly address: string;
  readonly name: string;
  /** The entry as it is stored, whose other fields stay; null: a new one. */
  readonly stored: NonNullable<AccountSettings['addresses']>[number] | null;
}

export interface EditForm {
  readonly name: string;
  readonly addresses: readonly AddressRow[];
  readonly capture: CaptureForm;
  readonly absence: AbsenceForm;
}

/** What the form is about, of an account. */
export interface State extends Pick<AccountSettings, 'addresses' | 'capture' | 'out_of_office'> {
  readonly sender: Account['from_address'];
}
type Rule = keyof Capture;

/** The changed values. Of `capture`, the changed rules. */
export interface Change {
  readonly name?: string;
  readonly addresses?: AccountSettings['addresses'];
  readonly capture?: Partial<Capture>;
  readonly out_of_office?: AccountSettings['out_of_office'];
}

export type Conflict = 'name' | 'addresses' | 'out_of_office' | Rule;

const RULES: readonly Rule[] = [
  'folders',
  'never_addresses',
  'never_subjects',
  'internal_domains',
  'leave_out_private',
  'only_customers',
];

/** Nothing has several spellings: absent, an empty list, false. */
const plain = (value: unknown): string =>
  value === undefined || value === false || (Array.isArray(value) && value.length === 0)
    ? 'null'
    : JSON.stringify(value);
const isSame = (one: unknown, other: unknown): boolean => plain(one) === plain(other);

/** A name without an address, or a stored address that is blank now: only the button beside it removes it. */
export const isIncomplete = ({ address, name, stored }: AddressRow): boolean =>
  address.trim() === '' && (stored !== null || name.trim() !== '');

export function toAddresses(rows: readonly AddressRow[]): AccountSettings['addresses'] {
  const named = rows.filter(({ address }) => address.trim() !== '');
  if (named.length === 0) return null;
  return named.map(({ address, name, stored }) => ({
    ...stored,
    address: address.trim(),
    name: name.trim() === '' ? null : name.trim(),
  }));
}

/**
 * @param opened what the form began with, so that it tells a change from another spelling
 * @param language of the page
 */
export function changeOf(
  base: Pick<State, 'addresses' | 'out_of_office'>,
  opened: EditForm,
  form: EditForm,
  language: 'de' | 'en',
): Change {
  const addresses = toAddresses(form.addresses);
  const [before, after] = [toCapture(opened.capture), toCapture(form.capture)];
  const rules = RULES.filter((rule) => !isSame(before?.[rule], after?.[rule]));
  return {
    ...(form.name.trim() === opened.name.trim() ? {} : { name: form.name.trim() }),
    ...(isSame(toAddresses(opened.addresses), addresses) || isSame(base.addresses, addresses)
      ? {}
      : { addresses }),
    ...(isSame(readAbsence(base.out_of_office), form.absence) || isSame(opened.absence, form.absence)
      ? {}
      : { out_of_office: toAbsence(form.absence, base.out_of_office, language) }),
    ...(rules.length === 0
      ? {}
      : { capture: Object.fromEntries(rules.map((rule) => [rule, after?.[rule] ?? null])) }),
  };
}

export const isEmpty = (change: Change): boolean => Object.keys(change).length === 0;

/** The settings that both this operator and a colleague changed, to different values. */
export function conflictsOf(base: State, latest: State, change: Change): readonly Conflict[] {
  const isContested = (before: unknown, now: unknown, mine: unknown): boolean =>
    !isSame(before, now) && !isSame(now, mine);
  const rules = Object.keys(change.capture ?? {}) as Rule[];
  return [
    ...(change.name !== undefined && isContested(base.sender?.name, latest.sender?.name, change.name)
      ? (['name'] as const)
      : []),
    ...(change.addresses !== undefined &&
    isContested(shownOf(base.addresses), shownOf(latest.addresses), shownOf(change.addresses))
      ? (['addresses'] as const)
      : []),
    ...(change.out_of_office !== undefined &&
    isContested(base.out_of_office, latest.out_of_office, change.out_of_office)
      ? (['out_of_office'] as const)
      : []),
    ...rules.filter((rule) =>
      isContested(base.capture?.[rule], latest.capture?.[rule], change.capture?.[rule]),
    ),
  ];
}

/** What the form shows of the entries. */
const shownOf = (addresses: AccountSettings['addresses'] | undefined) =>
  (addresses ?? []).map(({ address, name = null }) => [address, name]);

/** The service replaces these as a whole: what the form does not show, or was not changed in it, is that of now. */
export function toChangeRequest(
  { name, addresses, capture, out_of_office: absence }: Change,
  latest: State,
): AccountChange {
  const known = latest.addresses ?? [];
  const others: AccountChange = {
    ...(name === undefined ? {} : { from: fromWith(name, latest.sender?.address ?? '') }),
    ...(absence === undefined ? {} : { out_of_office: absence }),
    ...(addresses === undefined
      ? {}
      : {
          addresses:
            addresses?.map((entry) => ({
              ...(known.find(({ address }) => address === entry.address) ?? entry),
              name: entry.name ?? null,
            })) ?? null,
        }),
  };
  if (capture === undefined) return others;
  const rules = { ...latest.capture, ...capture };
  const isNone = Object.values(rules).every((value) => isSame(value, null));
  return { ...others, capture: isNone ? null : rules };
}
