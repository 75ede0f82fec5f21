/** One mail server in a form. */
import { useAccountWords } from './account-words.ts';
import { ChoiceField, Field } from './form-field.tsx';
import type { Problems } from './problems.ts';
import { withSecurity, type Scheme, type Security, type ServerFields as Fields } from './server-address.ts';

interface ServerFieldsProps {
  readonly scheme: Scheme;
  readonly server: Fields;
  readonly problems: Problems;
  readonly onChange: (server: Fields) => void;
}

export function ServerFields({ scheme, server, problems, onChange }: ServerFieldsProps) {
  const { server: words } = useAccountWords().accounts;
  const [host, port] =
    scheme === 'imap' ? (['imapHost', 'imapPort'] as const) : (['smtpHost', 'smtpPort'] as const);
  const offered: readonly Security[] =
    server.security === 'offered' ? ['tls', 'starttls', 'offered', 'none'] : ['tls', 'starttls', 'none'];
  return (
    <fieldset className="server-fields">
      <legend className="field-label">{words[scheme]}</legend>
      <Field
        name={host}
        label={words.host}
        hint={words.hostHint[scheme]}
        placeholder={`${scheme}.example.com`}
        value={server.host}
        onChange={(text) => onChange({ ...server, host: text })}
        problem={problems[host]}
      />
      <Field
        name={port}
        label={words.port}
        inputMode="numeric"
        maxLength={5}
        value={server.port}
        onChange={(text) => onChange({ ...server, port: text })}
        problem={problems[port]}
      />
      <ChoiceField
        label={words.security}
        value={server.security}
        options={offered.map((security) => [security, words.securities[security]] as const)}
        onChange={(security) => onChange(withSecurity(scheme, server, security))}
      />
      {server.security === 'none' && <p className="step-warning server-note">{words.insecure}</p>}
    </fieldset>
  );
}
