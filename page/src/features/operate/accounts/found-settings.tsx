/** The settings that were found for an address, to choose from. */
import type { FoundSettings } from 'email-worker-client';
import { Label, Radio, RadioGroup } from 'react-aria-components';
import { useAccountWords } from './account-words.ts';
import type { Candidate } from './mailbox-form.ts';

interface FoundSettingsProps {
  /** null: none were looked for. */
  readonly found: FoundSettings | null;
  /** null: the servers are typed. */
  readonly candidate: Candidate | null;
  readonly onChoose: (candidate: Candidate | null) => void;
}

const BY_HAND = 'by-hand';

export function FoundSettingsChoice({ found, candidate, onChoose }: FoundSettingsProps) {
  const { server: words } = useAccountWords().accounts;
  const candidates = found?.candidates ?? [];
  if (candidates.length === 0) {
    return <p className="step-note">{found === null ? words.byHand : words.nothing}</p>;
  }
  const chosen = candidate === null ? BY_HAND : String(candidates.indexOf(candidate));
  return (
    <>
      <RadioGroup
        className="option-list"
        value={chosen}
        onChange={(value) => onChoose(candidates[Number(value)] ?? null)}
      >
        <Label className="field-label">{words.foundTitle}</Label>
        {candidates.map((one, index) => (
          <Radio
            key={`${one.source} ${one.imap_url} ${one.smtp_url}`}
            value={String(index)}
            className="option"
          >
            <span className="option-title">{one.name ?? words.foundOf[one.source]}</span>
            <span className="option-hint">{hostsOf(one).join(' · ')}</span>
          </Radio>
        ))}
        <Radio value={BY_HAND} className="option">
          <span className="option-title">{words.ownSettings}</span>
        </Radio>
      </RadioGroup>
      {candidate !== null && candidate.note !== null && (
        <p className="step-warning">{candidate.imap_url === null ? words.noImap : words.foreign}</p>
      )}
    </>
  );
}

const hostsOf = ({ imap_url: imap, smtp_url: smtp }: Candidate): readonly string[] => [
  ...new Set(
    [imap, smtp].flatMap((url) => (url !== null && URL.canParse(url) ? [new URL(url).hostname] : [])),
  ),
];
