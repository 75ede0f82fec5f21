/**
 * The authentication of a received email's sender: SPF (RFC 7208), DKIM (RFC 6376), DMARC (RFC 7489) and ARC (RFC 8617),
 * checked by this service or by the mail server that received the email (RFC 8601).
 */
import { toAsciiDomain } from '../address/domain.ts';
import { organizationalDomain } from '../address/organizational-domain.ts';

/** RFC 8601 §2.7; any other word becomes `none`. */
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
 * `passed`: the domain of From is the sender's. `failed`: it is not, or the email meets nothing that the domain publishes
 * about its mail. `unknown`: there is no evidence for either, perhaps because the DNS of that domain did not answer. An email whose From
 * names no domain is never `passed`.
 */
export const AUTH_VERDICTS = ['passed', 'failed', 'unknown'] as const;
export type AuthVerdict = (typeof AUTH_VERDICTS)[number];

/** Domains are lower-case; null where none was reported. */
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
  // From RFC 7001 §2.7.2; servers still write it.
  if (word === 'hardfail') return 'fail';
  if (word === 'temperr') return 'temperror';
  return AUTH_OUTCOMES.find((outcome) => outcome === word) ?? 'none';
}

/** The authors of the message according to From. */
export interface FromFields {
  /** The number of From fields; RFC 5322 §3.6 wants one. */
  readonly count: number;
  /** The domains of all their addresses. */
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
 * A trusted server's results for a message, completed by this service's own checks of the message as that server handed it
 * over. Only the server can check SPF, and it had the message as it came. A DMARC that failed without SPF counts as failed
 * only if SPF does not support From either.
 *
 * @param told null: the server reported nothing
 */
export function completeResults(
  told: AuthResults | null,
  checked: AuthResults,
  { domains }: FromFields,
): AuthResults {
  if (told === null) return checked.dmarc?.result === 'fail' ? { ...checked, dmarc: null } : checked;
  const { spf } = told;
  const isOfFrom = domains.some((domain) => isSameSite(domain, spf?.domain ?? null));
  // RFC 7489 §3.1.2: the SPF of another domain proves nothing of From, whatever its result is.
  const isSpfNoProof = spf !== null && !(isOfFrom && (spf.result === 'pass' || spf.result === 'temperror'));
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
  // Mail programs differ in the author they show, and checks in the one they evaluate: RFC 7489 §6.6.1.
  if (count > 1 || (domain !== undefined && others.some((other) => !isSameSite(domain, other))))
    return 'failed';
  const isOfFrom = (one: string | null) => domain !== undefined && isSameSite(domain, one);
  // The address that was checked is not the one that is shown.
  if (dmarc !== null && isOfAnother(dmarc, isOfFrom, domain !== undefined)) return 'failed';
  if (domain === undefined) return 'unknown';
  if (dmarc?.result === 'pass' && isOfFrom(dmarc.domain)) return 'passed';
  const ofFrom = [...dkim, ...(spf === null ? [] : [spf])].filter((one) => isOfFrom(one.domain));
  if (dmarc?.result !== 'fail' && ofFrom.some(({ result }) => result === 'pass')) return 'passed';
  // The check that could not be completed may be the proof. Checks of other domains can't be: their owner may be the forger, who decides
  // whether their DNS answers (RFC 7489 §6.6.2).
  if ([...ofFrom, dmarc].some((one) => one?.result === 'temperror')) return 'unknown';
  if (dmarc?.result === 'fail') return 'failed';
  // The domain declares that its mail comes from elsewhere, and no signature contradicts it.
  return spf?.result === 'fail' && !dkim.some(({ result }) => result === 'pass') ? 'failed' : 'unknown';
}

/**
 * A permanent DMARC error without a domain means that the server found no From with a single domain. Seen in practice:
 * `header.from=none` of servers that found none.
 */
const isOfAnother = (
  { result, domain }: NonNullable<AuthResults['dmarc']>,
  isOfFrom: (domain: string) => boolean,
  hasFrom: boolean,
): boolean => (domain?.includes('.') === true ? !isOfFrom(domain) : hasFrom && result === 'permerror');

/** True if both have the same owner: the organizational domains of DMARC's relaxed alignment (RFC 7489 §3.1) are equal. */
export const isSameSite = (one: string, other: string | null): boolean =>
  other !== null && siteOf(one) === siteOf(other);

const siteOf = (domain: string): string =>
  organizationalDomain(toAsciiDomain(domain) ?? domain.toLowerCase());

/** A failed email teaches nothing: neither that its address takes part in a thread, nor whose thread it is. */
export const hasFailed = (authentication: MailAuthentication | null): boolean =>
  authentication?.verdict === 'failed';
