/**
 * What is known about the sender of a received email: SPF (RFC 7208), DKIM (RFC 6376), DMARC (RFC 7489) and ARC (RFC 8617), checked by
 * this service or by the mail server that took it (RFC 8601).
 */
import { toAsciiDomain } from '../address/domain.ts';
import { organizationalDomain } from '../address/organizational-domain.ts';

/** RFC 8601 §2.7; what is written otherwise is `none`. */
export const AUTH_OUTCOMES = [
  'pass',
  'fail',
  'softfail',
  'neutral',
  'none',
  'policy',
  'temperror',
  'permerror',
] as const;
export type AuthOutcome = (typeof AUTH_OUTCOMES)[number];

/**
 * `passed`: the domain of From is the sender's. `failed`: it is not, or nothing of what it says about its mail fits. `unknown`:
 * nothing says either, also because DNS did not answer.
 */
export const AUTH_VERDICTS = ['passed', 'failed', 'unknown'] as const;
export type AuthVerdict = (typeof AUTH_VERDICTS)[number];

/** Domains are lower-case; null where none was told. */
export interface AuthResults {
  readonly spf: { readonly result: AuthOutcome; readonly domain: string | null } | null;
  readonly dkim: readonly {
    readonly result: AuthOutcome;
    readonly domain: string | null;
    readonly selector: string | null;
  }[];
  readonly dmarc: { readonly result: AuthOutcome; readonly domain: string | null } | null;
  readonly arc: AuthOutcome | null;
}

export interface MailAuthentication extends AuthResults {
  /** `checked` by this service, or read from the `header` that a trusted mail server wrote. */
  readonly source: 'checked' | 'header';
  readonly verdict: AuthVerdict;
}

export function toOutcome(text: string): AuthOutcome {
  const word = text.toLowerCase();
  // RFC 7001 §2.7.2 had it; servers still write it.
  if (word === 'hardfail') return 'fail';
  if (word === 'temperr') return 'temperror';
  return AUTH_OUTCOMES.find((outcome) => outcome === word) ?? 'none';
}

/** Who From says that the message is of. */
export interface FromFields {
  /** How many fields From there are; RFC 5322 §3.6 wants one. */
  readonly count: number;
  /** Of all their addresses. */
  readonly domains: readonly string[];
}

export function judge(
  source: MailAuthentication['source'],
  results: AuthResults,
  from: FromFields,
): MailAuthentication {
  return { source, ...results, verdict: verdictOf(results, from) };
}

/**
 * What a trusted server said of a message, completed by what this service found where that server handed it over. Of SPF only the
 * server can tell, and it had the message as it came. A DMARC that failed without SPF has failed only if SPF says nothing for From either.
 *
 * @param told null: the server said nothing
 */
export function completeResults(
  told: AuthResults | null,
  checked: AuthResults,
  { domains }: FromFields,
): AuthResults {
  if (told === null) return checked.dmarc?.result === 'fail' ? { ...checked, dmarc: null } : checked;
  const { spf } = told;
  const isOfFrom = domains.some((domain) => isSameSite(domain, spf?.domain ?? null));
  const isSpfNoProof = spf !== null && spf.result !== 'temperror' && !(spf.result === 'pass' && isOfFrom);
  const dmarc = checked.dmarc?.result === 'fail' && !isSpfNoProof ? null : checked.dmarc;
  return {
    spf,
    dkim: told.dkim.length > 0 ? told.dkim : checked.dkim,
    dmarc: told.dmarc ?? dmarc,
    arc: told.arc ?? checked.arc,
  };
}

function verdictOf({ spf, dkim, dmarc }: AuthResults, { count, domains }: FromFields): AuthVerdict {
  const [domain, ...others] = domains;
  // Mail programs differ in which author they show, and checks in which one they ask for: RFC 7489 §6.6.1.
  if (count > 1 || (domain !== undefined && others.some((other) => !isSameSite(domain, other))))
    return 'failed';
  const isOfFrom = (one: string | null) => domain !== undefined && isSameSite(domain, one);
  // What was checked is not the address that is shown.
  if (domain !== undefined && dmarc !== null && isOfAnother(dmarc, isOfFrom)) return 'failed';
  if (dmarc?.result === 'pass') return 'passed';
  const passes = [...dkim, ...(spf === null ? [] : [spf])].filter(({ result }) => result === 'pass');
  if (dmarc?.result !== 'fail' && passes.some((one) => isOfFrom(one.domain))) return 'passed';
  // What could not be asked may be the proof.
  const isIncomplete = [spf, dmarc, ...dkim].some((one) => one?.result === 'temperror');
  if (isIncomplete) return 'unknown';
  if (dmarc?.result === 'fail') return 'failed';
  // The domain says that its mail comes from elsewhere, and nothing was signed that could say otherwise.
  return spf?.result === 'fail' && !dkim.some(({ result }) => result === 'pass') ? 'failed' : 'unknown';
}

/**
 * A DMARC that names no domain and has failed for good found no From of one domain. Seen in practice: `header.from=none` of servers that
 * found none.
 */
const isOfAnother = (
  { result, domain }: NonNullable<AuthResults['dmarc']>,
  isOfFrom: (domain: string) => boolean,
): boolean => (domain?.includes('.') === true ? !isOfFrom(domain) : result === 'permerror');

/** Whether the same people registered both: the domains of DMARC's relaxed alignment (RFC 7489 §3.1). */
const isSameSite = (one: string, other: string | null): boolean =>
  other !== null && siteOf(one) === siteOf(other);

const siteOf = (domain: string): string =>
  organizationalDomain(toAsciiDomain(domain) ?? domain.toLowerCase());

/** Such an email teaches nothing: not that its address takes part in a thread, and not whose thread it is. */
export const hasFailed = (authentication: MailAuthentication | null): boolean =>
  authentication?.verdict === 'failed';
