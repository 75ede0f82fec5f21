/** What a check found, step by step: what works, what does not, and what to do. */
import { CircleAlert, CircleCheck, TriangleAlert } from '../../../ui/icons.tsx';
import { useAccountWords } from './account-words.ts';
import { toSteps, type Finding, type Grade, type StepResult } from './findings.ts';

const ICONS = { ok: CircleCheck, warning: TriangleAlert, problem: CircleAlert } as const;

/** The DNS is not the mailbox's: it does not keep an account from working. */
const gradeOf = ({ step, grade }: StepResult): Grade =>
  step === 'dns' && grade === 'problem' ? 'warning' : grade;

export function CheckSteps({ findings }: { readonly findings: readonly Finding[] }) {
  const { check: words } = useAccountWords().accounts;
  return (
    <ul className="check-steps">
      {toSteps(findings).map((result) => {
        const grade = gradeOf(result);
        const Icon = ICONS[grade];
        return (
          <li key={result.step} className="check-step" data-grade={grade}>
            <Icon size={18} aria-hidden />
            <div className="check-step-text">
              <h3>{words.steps[result.step]}</h3>
              <Outcome result={result} />
            </div>
          </li>
        );
      })}
    </ul>
  );
}

function Outcome({ result: { step, faults, works } }: { readonly result: StepResult }) {
  const { accounts, check: words } = withCheck(useAccountWords());
  if (faults.length === 0) return <p>{words.worked[step]}</p>;
  const isDns = step === 'dns';
  const said = [...faults, ...(isDns ? works : [])];
  const ofCodes: Readonly<Record<string, string>> = words.faults;
  const explained = new Set(faults.map(({ code }) => ofCodes[code ?? 'other'] ?? words.faults.other));
  return (
    <>
      {isDns ? <p>{words.dnsFaults}</p> : [...explained].map((one) => <p key={one}>{one}</p>)}
      <details className="step-fold" open={!isDns && explained.has(words.faults.other)}>
        <summary>{isDns ? words.details : accounts.said}</summary>
        <ul>
          {said.map(({ text, advice, grade }) => (
            <li key={text} className="card-said">
              {text}
              {isDns && grade !== 'ok' && advice !== null && ` – ${advice}`}
            </li>
          ))}
        </ul>
      </details>
    </>
  );
}

const withCheck = ({ accounts }: ReturnType<typeof useAccountWords>) => ({ accounts, check: accounts.check });
