/**
 * The fields of an act for the security log and the audit log: who and what it concerns, and its result. No content of an
 * email, and no address that a log would keep beyond its time.
 */
import type { ClockState } from './base/clock-guard.ts';
import type { Suppression } from '../core/delivery/suppression.ts';
import type { Fields } from './audit/record-act.ts';
import type { CustomerRegistration } from './customers/customer-ports.ts';
import type { StoredKey } from './keys/key-ports.ts';
import type { Template } from './templates/template-ports.ts';
import type { DecisionResult } from './threads/thread-decisions.ts';
import type { ThreadChange } from './threads/thread-record-ports.ts';

/** Entries of a list that are logged; beyond them only their number. */
const MAX_TOLD = 100;

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

export const toClockFields = ({ databaseAt, jump }: ClockState): Fields => ({
  databaseAt,
  expectedAt: jump?.expectedAt ?? null,
  jumpedAt: jump?.jumpedAt ?? null,
});
