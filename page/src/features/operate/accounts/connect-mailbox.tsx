/** Connects a mailbox, step by step. Loaded when it is opened; what was typed is gone when it is closed. */
import { Heading } from 'react-aria-components';
import { Button, IconButton } from '../../../ui/button.tsx';
import { X } from '../../../ui/icons.tsx';
import { DialogFrame } from './account-dialog.tsx';
import { useAccountWords } from './account-words.ts';
import { AddressStep } from './address-step.tsx';
import { CaptureFields } from './capture-fields.tsx';
import { CheckStep } from './check-step.tsx';
import { DoneStep } from './done-step.tsx';
import { FinishFields } from './finish-fields.tsx';
import { GeneralProblem, StepForm, Submit } from './form-field.tsx';
import { captureFieldsOf } from './problems.ts';
import { ServerStep } from './server-step.tsx';
import { STEPS, useConnect, type Connect } from './use-connect.ts';

export function ConnectMailbox({ onClose }: { readonly onClose: () => void }) {
  const connect = useConnect();
  const isUntouched = connect.form.address === '' || connect.step === 'done';
  return (
    <DialogFrame isUntouched={isUntouched} onClose={onClose}>
      <Wizard connect={connect} onClose={onClose} />
    </DialogFrame>
  );
}

function Wizard({ connect, onClose }: { readonly connect: Connect; readonly onClose: () => void }) {
  const { accounts: words, format, text } = useAccountWords();
  const { step, connected, problems } = connect;
  const number = STEPS.indexOf(step) + 1;
  return (
    <>
      <div className="step-close">
        <IconButton icon={X} label={text.app.close} onPress={onClose} />
      </div>
      <p className="step-count">
        {words.progress(format.count(number), format.count(STEPS.length))} · {words.steps[step]}
      </p>
      <Heading slot="title" level={2}>
        {words.title}
      </Heading>
      <progress
        className="step-progress"
        value={number}
        max={STEPS.length}
        aria-label={words.progress(format.count(number), format.count(STEPS.length))}
      />
      {connected !== null ? (
        <DoneStep connected={connected} onClose={onClose} />
      ) : (
        <StepForm
          key={step}
          focusOn={connect.focusOn}
          problemsAt={problems.at}
          onSubmit={() => !connect.isBusy && connect.submit()}
        >
          <StepBody connect={connect} />
          <GeneralProblem text={problems.general} />
          {step !== 'address' && <StepActions connect={connect} />}
        </StepForm>
      )}
    </>
  );
}

function StepBody({ connect }: { readonly connect: Connect }) {
  const { capture: words } = useAccountWords().accounts;
  const { form, step } = connect;
  const problems = connect.problems.fields;
  switch (step) {
    case 'address':
      return (
        <AddressStep
          form={form}
          problems={problems}
          isFinding={connect.isBusy}
          onAddress={connect.setAddress}
          onName={(name) => connect.set({ name })}
          onByHand={connect.byHand}
        />
      );
    case 'server':
      return (
        <ServerStep
          form={form}
          found={connect.found}
          candidate={connect.candidate}
          problems={problems}
          onCandidate={connect.choose}
          onChange={(change) =>
            connect.set(change, [
              ...(Object.keys(change) as (keyof typeof problems)[]),
              ...('imap' in change ? (['imapHost', 'imapPort'] as const) : []),
              ...('smtp' in change ? (['smtpHost', 'smtpPort'] as const) : []),
            ])
          }
        />
      );
    case 'check':
      return (
        <CheckStep
          check={connect.check}
          isRunning={connect.isBusy}
          sendsMessage={connect.sendsMessage}
          maySendMessage={form.logIn === 'password' && form.imap.host !== '' && form.smtp.host !== ''}
          onSendsMessage={connect.setSendsMessage}
          onAgain={connect.checkAgain}
        />
      );
    case 'capture':
      return (
        <>
          <p className="step-lead">
            {words.lead} {words.later}
          </p>
          {form.imap.host.trim() !== '' && (
            <CaptureFields
              capture={form.capture}
              folders={connect.check?.folders ?? []}
              problems={problems}
              onChange={(change) =>
                connect.set({ capture: { ...form.capture, ...change } }, captureFieldsOf(change))
              }
            />
          )}
          <FinishFields
            id={form.id}
            problems={problems}
            hasMail={connect.hasMail}
            adoptsMail={connect.adoptsMail}
            onId={(id) => connect.set({ id })}
            onAdoptsMail={connect.setAdoptsMail}
          />
        </>
      );
    case 'done':
      return null;
  }
}

function StepActions({ connect }: { readonly connect: Connect }) {
  const { accounts: words } = useAccountWords();
  const { step, check, isBusy, isChecked } = connect;
  const hasFailed = step === 'check' && isChecked && check?.ok !== true;
  const main =
    step === 'server' ? words.server.check : step === 'capture' ? words.finish.connect : words.next;
  return (
    <div className="step-actions">
      {!hasFailed && (
        <Button look="outline" onPress={connect.back}>
          {words.back}
        </Button>
      )}
      <span className="step-space" />
      {hasFailed ? (
        <>
          <Button look="outline" type="submit">
            {words.check.anyway}
          </Button>
          <Button look="primary" onPress={connect.correct}>
            {words.check.correct}
          </Button>
        </>
      ) : (
        (step !== 'check' || check !== null) && <Submit isBusy={isBusy}>{main}</Submit>
      )}
    </div>
  );
}
