/** Shows what the saved rules of an account leave out of what is recorded, and removes it once the operator has confirmed the number. */
import { useState } from 'react';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import type { Account, CaptureRemoval } from 'email-worker-client';
import { client } from '../../../api/client.ts';
import { codeOf } from '../../../api/failure.ts';
import { Button } from '../../../ui/button.tsx';
import { AccountDialog, DialogActions } from './account-dialog.tsx';
import { useAccountWords } from './account-words.ts';
import { Field, StepForm, Submit } from './form-field.tsx';
import { PastPreview } from './past-preview.tsx';
import { Refusal } from './refusal.tsx';
import { usePreview } from './use-preview.ts';

/** How often the progress is read, in ms. */
const PROGRESS_MS = 1500;

const isUnderWay = (removal: CaptureRemoval | null | undefined): boolean =>
  removal?.state === 'counting' || removal?.state === 'removing';

/** null: there was none. */
async function readRemoval(id: string, signal: AbortSignal): Promise<CaptureRemoval | null> {
  try {
    return await client.accounts.removal(id, { signal });
  } catch (error) {
    if (codeOf(error) === 'removal_not_found') return null;
    throw error;
  }
}

export function RemovePast({
  account,
  onClose,
}: {
  readonly account: Account;
  readonly onClose: () => void;
}) {
  const { accounts, text } = useAccountWords();
  const words = accounts.past;
  const { id } = account;
  const queryClient = useQueryClient();
  const queryKey = ['operate', 'accounts', 'removal', id];
  const { data: removal } = useQuery({
    queryKey,
    queryFn: ({ signal }) => readRemoval(id, signal),
    refetchInterval: ({ state }) => (isUnderWay(state.data) ? PROGRESS_MS : false),
    gcTime: 0,
  });
  const [wasBegun, setBegun] = useState(false);
  const [looked, setLooked] = useState({ round: 0, version: account.version });
  const look = useMutation({
    mutationFn: () => client.accounts.get(id),
    onSuccess: ({ version }) => setLooked({ round: looked.round + 1, version }),
  });
  const stop = useMutation({
    mutationFn: () => client.accounts.stopRemoval(id),
    onSuccess: (stopped) => queryClient.setQueryData(queryKey, stopped),
  });
  const title = words.title(account.from_address?.address ?? id);
  if (removal === undefined)
    return (
      <AccountDialog title={title} onClose={onClose}>
        <p role="status">{accounts.busy}</p>
      </AccountDialog>
    );
  if (removal !== null && (wasBegun || isUnderWay(removal)))
    return (
      <AccountDialog title={title} onClose={onClose}>
        <Progress removal={removal} />
        <Refusal error={stop.error} />
        <div className="step-actions">
          <span className="step-space" />
          {isUnderWay(removal) && (
            <Button look="outline" isPending={stop.isPending} onPress={() => stop.mutate()}>
              {words.stop}
            </Button>
          )}
          <Button look="primary" onPress={onClose}>
            {text.app.close}
          </Button>
        </div>
      </AccountDialog>
    );
  return (
    <Ask
      key={looked.round}
      id={id}
      version={looked.version}
      title={title}
      isLooking={look.isPending}
      onLook={() => look.mutate()}
      onClose={onClose}
      onBegun={(begun) => {
        queryClient.setQueryData(queryKey, begun);
        setBegun(true);
      }}
    />
  );
}

interface AskProps {
  readonly id: string;
  readonly version: number;
  readonly title: string;
  /** The account is being read for another look. */
  readonly isLooking: boolean;
  readonly onLook: () => void;
  readonly onClose: () => void;
  readonly onBegun: (removal: CaptureRemoval) => void;
}

/** The version is read before the preview: it is about the rules of that version, or the removal is refused. */
function Ask({ id, version, title, isLooking, onLook, onClose, onBegun }: AskProps) {
  const { accounts, format } = useAccountWords();
  const words = accounts.past;
  const [typed, setTyped] = useState('');
  const [isWrong, setWrong] = useState(false);
  const preview = usePreview(id, undefined);
  const removable = preview.isComplete && preview.error === null ? (preview.sums?.removable ?? 0) : 0;
  const remove = useMutation({
    mutationFn: () => client.accounts.removeLeftOut(id, version, { emails: removable }),
    onSuccess: onBegun,
  });
  const submit = (): void => {
    if (remove.isPending || removable === 0) return;
    const isConfirmed = typed.trim() === String(removable);
    setWrong(!isConfirmed);
    if (isConfirmed) remove.mutate();
  };
  const isOld = codeOf(remove.error) === 'account_changed' || codeOf(remove.error) === 'left_out_changed';
  return (
    <AccountDialog title={title} isUntouched={typed === ''} onClose={onClose}>
      <StepForm problemsAt={0} onSubmit={submit}>
        <p className="step-lead" data-step-start tabIndex={-1}>
          {words.lead}
        </p>
        <PastPreview {...preview} />
        {removable > 0 && (
          <>
            <p className="step-warning">{words.warning(format.count(removable))}</p>
            <Field
              name="confirm"
              label={words.type(String(removable))}
              inputMode="numeric"
              isRequired
              value={typed}
              onChange={(next) => {
                setTyped(next);
                setWrong(false);
              }}
              problem={isWrong ? words.typeWrong : undefined}
            />
          </>
        )}
        <Refusal error={remove.error} text={isOld ? words.changed : null} />
        <DialogActions onCancel={onClose}>
          {isOld || preview.error !== null ? (
            <Button look="primary" isPending={isLooking} onPress={onLook}>
              {words.again}
            </Button>
          ) : (
            removable > 0 && (
              <Submit isBusy={remove.isPending}>{words.remove(format.count(removable))}</Submit>
            )
          )}
        </DialogActions>
      </StepForm>
    </AccountDialog>
  );
}

function Progress({ removal }: { readonly removal: CaptureRemoval }) {
  const { accounts, format } = useAccountWords();
  const words = accounts.past;
  const removed = Object.values(removal.removed).reduce((sum, count) => sum + count, 0);
  const [count, all] = [format.count(removed), format.count(removal.confirmed)];
  return (
    <div role="status" className="past">
      <p className="step-note">
        {removal.state === 'counting'
          ? words.counting(format.count(removal.judged))
          : removal.state === 'removing'
            ? words.removing(count, all)
            : removal.state === 'refused'
              ? words.refused
              : removal.state === 'stopped'
                ? words.stopped(count)
                : words.done(count)}
      </p>
      {isUnderWay(removal) && (
        <progress
          className="step-progress"
          max={removal.confirmed}
          value={removal.state === 'counting' ? 0 : removed}
          aria-label={words.removing(count, all)}
        />
      )}
      {removal.kept > 0 && <p>{words.keptMeanwhile(format.count(removal.kept))}</p>}
    </div>
  );
}
