/** Logs in with a key or the secret. Browsers and password managers may store the input as a password. */
import { useState } from 'react';
import { FieldError, Form, Input, Label, TextField } from 'react-aria-components';
import { logIn, type LoginFailure, type Session } from '../../api/session.ts';
import { useWords } from '../../i18n/index.tsx';
import { Button } from '../../ui/button.tsx';
import '../../ui/field.css';
import './login.css';

export type LoginReason = 'none' | 'ended' | 'tokenRefused' | LoginFailure;

interface LoginProps {
  /** The reason for the form, apart from the missing session. */
  readonly reason: LoginReason;
  readonly onLogin: (session: Session) => void;
}

export function Login({ reason, onLogin }: LoginProps) {
  const { text } = useWords();
  const [shown, setShown] = useState(reason);
  const [isBusy, setBusy] = useState(false);
  const submit = async (secret: string): Promise<void> => {
    setBusy(true);
    const outcome = await logIn({ secret });
    setBusy(false);
    if (typeof outcome === 'string') setShown(outcome);
    else onLogin(outcome);
  };
  const message = shown === 'none' ? null : text.login[shown];
  return (
    <main className="login">
      <Form
        className="login-form"
        onSubmit={(event) => {
          event.preventDefault();
          const secret = new FormData(event.currentTarget).get('secret');
          if (typeof secret === 'string' && secret.trim() !== '') void submit(secret.trim());
        }}
      >
        <div className="login-head">
          <img src="/icon.svg" alt="" />
          <h1>{text.login.title}</h1>
          <p>{text.login.lead}</p>
        </div>
        <TextField
          className="field"
          name="secret"
          type="password"
          autoComplete="current-password"
          autoFocus
          isRequired
          isInvalid={message !== null}
          validationBehavior="aria"
        >
          <Label className="field-label">{text.login.label}</Label>
          <Input className="input" />
          <FieldError className="field-error">{message}</FieldError>
        </TextField>
        <Button look="primary" type="submit" isPending={isBusy}>
          {text.login.submit}
        </Button>
        <p className="login-help">{text.login.help}</p>
      </Form>
    </main>
  );
}
