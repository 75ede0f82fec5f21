/** The third step: the servers are tried. */
import type { AccountCheck } from 'email-worker-client';
import { Button } from '../../../ui/button.tsx';
import { useAccountWords } from './account-words.ts';
import { CheckSteps } from './check-steps.tsx';
import { SwitchField } from './form-field.tsx';

interface CheckStepProps {
  readonly check: AccountCheck | null;
  readonly isRunning: boolean;
  readonly sendsMessage: boolean;
  /** False: there is nothing that a message could be sent and read by. */
  readonly maySendMessage: boolean;
  readonly onSendsMessage: (isOn: boolean) => void;
  readonly onAgain: () => void;
}

export function CheckStep({
  check,
  isRunning,
  sendsMessage,
  maySendMessage,
  onSendsMessage,
  onAgain,
}: CheckStepProps) {
  const { check: words } = useAccountWords().accounts;
  return (
    <>
      <p className="step-lead" data-step-start tabIndex={-1}>
        {words.lead}
      </p>
      <p className="step-status" role="status">
        {isRunning
          ? sendsMessage
            ? words.runningMessage
            : words.running
          : check !== null && <Verdict check={check} />}
      </p>
      {!isRunning && check !== null && <CheckSteps findings={check.findings} />}
      {!isRunning && maySendMessage && (
        <div className="check-again">
          <SwitchField isSelected={sendsMessage} onChange={onSendsMessage}>
            {words.message}
          </SwitchField>
          <Button look="outline" onPress={onAgain}>
            {words.again}
          </Button>
        </div>
      )}
    </>
  );
}

function Verdict({ check: { ok, findings } }: { readonly check: AccountCheck }) {
  const { check: words } = useAccountWords().accounts;
  const isFine = findings.every(({ grade }) => grade === 'ok');
  return (
    <strong data-grade={ok ? 'ok' : 'problem'}>
      {isFine ? words.works : ok ? words.usable : words.fails}
    </strong>
  );
}
