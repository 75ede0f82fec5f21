/**
 * What is known of who sent a received email: SPF (RFC 7208), DKIM (RFC 6376), DMARC (RFC 7489) and ARC (RFC 8617), checked by
 * this service or by the mail server that took it (RFC 8601).
 */
import { getDomain } from 'tldts';

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

/** @param fromDomain of the field From; null when there is none */
export function judge(
  source: MailAuthentication['source'],
  results: AuthResults,
  fromDomain: string | null,
): MailAuthentication {
  return { source, ...results, verdict: verdictOf(results, fromDomain) };
}

function verdictOf({ spf, dkim, dmarc }: AuthResults, fromDomain: string | null): AuthVerdict {
  if (dmarc?.result === 'pass') return 'passed';
  const isOfFrom = (domain: string | null) =>
    fromDomain !== null && domain !== null && siteOf(domain) === siteOf(fromDomain);
  const passes = [...dkim, ...(spf === null ? [] : [spf])].filter(({ result }) => result === 'pass');
  if (dmarc?.result !== 'fail' && passes.some(({ domain }) => isOfFrom(domain))) return 'passed';
  // What could not be asked may be the proof.
  const isIncomplete = [spf, dmarc, ...dkim].some((one) => one?.result === 'temperror');
  if (isIncomplete) return 'unknown';
  if (dmarc?.result === 'fail') return 'failed';
  // The domain says that its mail comes from elsewhere, and nothing was signed that could say otherwise.
  return spf?.result === 'fail' && !dkim.some(({ result }) => result === 'pass') ? 'failed' : 'unknown';
}

/** The domain as it was registered; the same for all its hosts. */
const siteOf = (domain: string): string => getDomain(domain) ?? domain.toLowerCase();

/** Such an email teaches nothing: not that its address takes part in a thread, and not whose thread it is. */
export const hasFailed = (authentication: MailAuthentication | null): boolean =>
  authentication?.verdict === 'failed';
