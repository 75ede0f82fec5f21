/** The second step: the servers, found or typed, and how to log in. */
import type { FoundSettings } from 'email-worker-client';
import { useAccountWords } from './account-words.ts';
import { FoundSettingsChoice } from './found-settings.tsx';
import { ChoiceField, Field } from './form-field.tsx';
import { SmtpLogInFields, UserFields } from './log-in-fields.tsx';
import type { Candidate, LogInKind, MailboxForm, SmtpLogIn } from './mailbox-form.ts';
import type { Problems } from './problems.ts';
import { ServerFields } from './server-fields.tsx';

const ALL_KINDS: readonly LogInKind[] = ['password', 'google', 'microsoft', 'issuer'];
const SMTP_LOG_INS: readonly SmtpLogIn[] = ['same', 'own', 'none'];
const PROVIDERS = { google: 'Google', microsoft: 'Microsoft' } as const;

interface ServerStepProps {
  readonly form: MailboxForm;
  readonly found: FoundSettings | null;
  /** null: the servers are typed. */
  readonly candidate: Candidate | null;
  readonly problems: Problems;
  readonly onCandidate: (candidate: Candidate | null) => void;
  readonly onChange: (change: Partial<MailboxForm>) => void;
}

export function ServerStep({ form, found, candidate, problems, onCandidate, onChange }: ServerStepProps) {
  const { server: words } = useAccountWords().accounts;
  const provider = candidate?.oauth2?.provider ?? null;
  const kinds = candidate === null ? ALL_KINDS : provider === null ? [] : (['password', provider] as const);
  const servers = (
    <>
      <ServerFields
        scheme="imap"
        server={form.imap}
        problems={problems}
        onChange={(imap) => onChange({ imap })}
      />
      <ServerFields
        scheme="smtp"
        server={form.smtp}
        problems={problems}
        onChange={(smtp) => onChange({ smtp })}
      />
      {form.logIn === 'password' && form.smtp.host.trim() !== '' && (
        <SmtpLogInFields
          form={form}
          isAlone={form.imap.host.trim() === ''}
          choices={SMTP_LOG_INS}
          problems={problems}
          onChange={onChange}
        />
      )}
    </>
  );
  return (
    <>
      <FoundSettingsChoice found={found} candidate={candidate} onChoose={onCandidate} />
      {kinds.length > 0 && (
        <ChoiceField
          label={words.how}
          value={form.logIn}
          options={kinds.map((kind) => [kind, words.kinds[kind]] as const)}
          onChange={(logIn) => onChange({ logIn })}
        />
      )}
      {form.logIn === 'password' ? (
        <>
          {candidate?.log_in !== undefined && candidate.log_in !== 'password' && (
            <p className="step-warning">{words.appPassword}</p>
          )}
          <UserFields form={form} problems={problems} onChange={onChange} />
        </>
      ) : (
        <>
          <p className="step-note">
            {words.consentLead(form.logIn === 'issuer' ? words.otherProvider : PROVIDERS[form.logIn])}
          </p>
          <Field
            name="user"
            label={words.user}
            hint={words.userHint}
            isRequired
            value={form.user}
            onChange={(user) => onChange({ user })}
            problem={problems.user}
          />
          <ApplicationFields form={form} problems={problems} onChange={onChange} />
        </>
      )}
      {candidate === null ? (
        servers
      ) : (
        <details className="step-fold">
          <summary>{words.change}</summary>
          {servers}
        </details>
      )}
    </>
  );
}

/** The OAuth2 client. That of an OpenID provider is always the account's own. */
function ApplicationFields({
  form,
  problems,
  onChange,
}: Pick<ServerStepProps, 'form' | 'problems' | 'onChange'>) {
  const { server: words } = useAccountWords().accounts;
  const isIssuer = form.logIn === 'issuer';
  const fields = (
    <>
      {isIssuer && (
        <Field
          name="issuer"
          label={words.issuer}
          placeholder="https://login.example.com"
          isRequired
          value={form.issuer}
          onChange={(issuer) => onChange({ issuer })}
          problem={problems.issuer}
        />
      )}
      <div className="field-pair">
        <Field
          name="clientId"
          label={words.clientId}
          isRequired={isIssuer}
          value={form.clientId}
          onChange={(clientId) => onChange({ clientId })}
          problem={problems.clientId}
        />
        <Field
          name="clientSecret"
          type="password"
          label={words.clientSecret}
          value={form.clientSecret}
          onChange={(clientSecret) => onChange({ clientSecret })}
          problem={problems.clientSecret}
        />
      </div>
    </>
  );
  if (isIssuer) return fields;
  return (
    <details className="step-fold">
      <summary>{words.application}</summary>
      <p className="field-hint">{words.applicationHint}</p>
      {fields}
    </details>
  );
}
