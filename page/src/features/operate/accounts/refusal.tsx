/** Why a request of a dialog failed. */
import { EmailWorkerError } from 'email-worker-client';
import { hasNoAnswer, reasonOf } from '../../../api/failure.ts';
import { useAccountWords } from './account-words.ts';

/** @param text in place of the service's words */
export function Refusal({ error, text }: { readonly error: unknown; readonly text?: string | null }) {
  const { accounts, language } = useAccountWords();
  if (error === null || error === undefined) return null;
  const said =
    error instanceof EmailWorkerError && !hasNoAnswer(error)
      ? reasonOf(error, language)
      : accounts.problems.noAnswer;
  return (
    <p className="card-alarm" role="alert">
      {text ?? said}
    </p>
  );
}
