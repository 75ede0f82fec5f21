/**
 * The fields of an act for the security log and the audit log: who and what it concerns, and its result. No content of an
 * email, and no address that a log would keep beyond its time.
 */
import type { ClockState } from './base/clock-guard.ts';
import type { Suppression } from '../core/delivery/suppression.ts';
import { formatEventId } from '../core/event/event-id.ts';
import type { BegunAct } from './audit/audit-ports.ts';
import type { CustomerRegistration } from './customers/customer-ports.ts';
import type { StoredKey } from './keys/key-ports.ts';
import type { Template } from './templates/template-ports.ts';
import type { DecisionResult } from './threads/thread-decisions.ts';
import type { ThreadChange } from './threads/thread-record-ports.ts';
import type { WebhookView } from './webhooks/use-cases.ts';

/** Entries of a list that are logged; beyond them only their number. */
const MAX_TOLD = 100;

export type Fields = Readonly<Record<string, unknown>>;

/**
 * Fields that may name a person stay out of the audit log, which outlives the person's erasure: an address is replaced by
 * a digest that only shows whether two addresses are equal, and the feed has the words that people put on a thread.
 */
const PERSONAL_FIELDS: ReadonlySet<string> = new Set([
  'address',
  'addresses',
  'domains',
  'labels',
  'assignee',
]);

export function toAuditDetails(fields: Fields): Fields {
  return Object.fromEntries(Object.entries(fields).filter(([name]) => !PERSONAL_FIELDS.has(name)));
}

/** The first identifier that the act names, or else its address. */
export function targetOf(what: Fields): Pick<BegunAct, 'target' | 'targetAddress'> {
  const [, id] =
    Object.entries(what).find(([name, value]) => name.endsWith('Id') && typeof value === 'string') ?? [];
  if (typeof id === 'string') return { target: id };
  const { address } = what;
  const targetAddress = typeof address === 'string' ? address.trim().toLowerCase() : null;
  return { target: null, targetAddress };
}

export function toSuppressionFields({ reason, since }: Suppression): Fields {
  return { reason, since };
}

export function toRegistrationFields({ companyId, addresses, domains }: CustomerRegistration): Fields {
  return {
    companyId,
    addresses: addresses.slice(0, MAX_TOLD).map(({ address }) => address),
    addressCount: addresses.length,
    domains: domains.slice(0, MAX_TOLD).map(({ domain }) => domain),
    domainCount: domains.length,
  };
}

export function toEmailFields({ emailIds }: { readonly emailIds: readonly string[] }): Fields {
  return { emailIds: emailIds.slice(0, MAX_TOLD), emailCount: emailIds.length };
}

export function changedFields({
  version: _version,
  authorKeyId: _key,
  ...change
}: ThreadChange): readonly string[] {
  return Object.entries(change).flatMap(([field, value]) =>
    value === undefined || (Array.isArray(value) && value.length === 0 && field !== 'labels') ? [] : [field],
  );
}

export function toDecisionFields({ threadId, changed, decision }: DecisionResult): Fields {
  return { threadId, changed, decisionId: decision?.id ?? null };
}

/** Not the whole address: many contain a token in their path. */
export const hostOf = (url: string): string | null => (URL.canParse(url) ? new URL(url).host : null);

/** Without its content. */
export function toTemplateFields({ id, accountId, name, version }: Template): Fields {
  return { id, accountId, name, version };
}

export function toKeyFields({
  id,
  name,
  rights,
  accounts,
  rateLimit,
  expiresAt,
  oldSecretUntil,
}: StoredKey): Fields {
  return { id, name, rights, accounts, rateLimit, expiresAt, oldSecretUntil };
}

export function toWebhookFields({
  id,
  url,
  pause,
  position,
  headerNames,
  maxInFlight,
  payload,
}: WebhookView): Fields {
  const state = pause === null ? 'active' : 'paused';
  return {
    id,
    host: hostOf(url),
    state,
    position: formatEventId(position),
    headerNames,
    maxInFlight,
    payload,
  };
}

export const toClockFields = ({ databaseAt, jump }: ClockState): Fields => ({
  databaseAt,
  expectedAt: jump?.expectedAt ?? null,
  jumpedAt: jump?.jumpedAt ?? null,
});
