/** Makes a key, and shows it the only time that it can be seen. */
import { useState, type ReactNode } from 'react';
import { useQuery } from '@tanstack/react-query';
import {
  Checkbox,
  Dialog,
  Form,
  Heading,
  Input,
  Label,
  Modal,
  ModalOverlay,
  TextField,
} from 'react-aria-components';
import { Check } from '../../ui/icons.tsx';
import { client } from '../../api/client.ts';
import { accountsQuery } from '../../api/queries.ts';
import { hasRight, useSession } from '../../app/session.tsx';
import { useWords } from '../../i18n/index.tsx';
import { Button } from '../../ui/button.tsx';
import { copyText } from '../../ui/copy-text.ts';
import { notify } from '../../ui/toast.tsx';
import { useOperateWords } from './operate-words.ts';
import { useAct } from './use-act.ts';
import '../../ui/field.css';

const RIGHTS = ['read', 'draft', 'send', 'receive', 'handle', 'operate', 'admin'] as const;
type Right = (typeof RIGHTS)[number];
/** All accounts, those of later too. */
const ALL = '*';
/** The rights that a clerk needs. */
const USUAL: ReadonlySet<Right> = new Set<Right>(['read', 'draft', 'send', 'handle']);

export function NewKey() {
  const { keys: words } = useOperateWords().operate;
  const [isOpen, setOpen] = useState(false);
  const [secret, setSecret] = useState<string | null>(null);
  const close = (): void => {
    setOpen(false);
    setSecret(null);
  };
  return (
    <>
      <div className="operate-bar">
        <Button look="primary" onPress={() => setOpen(true)}>
          {words.add}
        </Button>
      </div>
      <ModalOverlay className="dialog-veil" isOpen={isOpen} onOpenChange={(next) => !next && close()}>
        <Modal className="dialog">
          <Dialog>
            {secret === null ? (
              <KeyForm onMade={setSecret} onCancel={close} />
            ) : (
              <Made secret={secret} onClose={close} />
            )}
          </Dialog>
        </Modal>
      </ModalOverlay>
    </>
  );
}

interface KeyFormProps {
  readonly onMade: (secret: string) => void;
  readonly onCancel: () => void;
}

function KeyForm({ onMade, onCancel }: KeyFormProps) {
  const { text } = useWords();
  const { keys: words } = useOperateWords().operate;
  const { rights: own, accounts: ownAccounts } = useSession();
  const [rights, setRights] = useState<ReadonlySet<Right>>(USUAL);
  const accounts = useQuery(accountsQuery).data ?? [];
  // Nothing is chosen beforehand: which accounts a key gets has to be said.
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const isComplete = rights.size > 0 && chosen.size > 0;
  const create = useAct({
    view: 'keys',
    run: (name: string) =>
      client.keys.create({
        name,
        rights: RIGHTS.filter((right) => rights.has(right)),
        account_ids: chosen.has(ALL) ? ALL : [...chosen],
      }),
    say: () => null,
  });
  return (
    <Form
      className="key-form"
      onSubmit={(event) => {
        event.preventDefault();
        const name = String(new FormData(event.currentTarget).get('name')).trim();
        if (name !== '' && isComplete) create.mutate(name, { onSuccess: (made) => onMade(made.secret) });
      }}
    >
      <Heading slot="title" level={2}>
        {words.add}
      </Heading>
      <TextField className="field" name="name" isRequired autoFocus maxLength={100}>
        <Label className="field-label">{words.name}</Label>
        <Input className="input" />
      </TextField>
      <fieldset className="key-rights">
        <legend className="field-label">{words.rights}</legend>
        {RIGHTS.filter((right) => hasRight(own, right)).map((right) => (
          <Choice
            key={right}
            isSelected={rights.has(right)}
            onChange={(isOn) => setRights(toggled(rights, right, isOn))}
          >
            {words.right[right]}
          </Choice>
        ))}
      </fieldset>
      <fieldset className="key-rights">
        <legend className="field-label">{words.accounts}</legend>
        {ownAccounts === null && (
          <Choice
            isSelected={chosen.has(ALL)}
            onChange={(isOn) => setChosen(new Set<string>(isOn ? [ALL] : []))}
          >
            {words.allAccounts}
          </Choice>
        )}
        {accounts.map(({ id }) => (
          <Choice
            key={id}
            isSelected={chosen.has(id)}
            isDisabled={chosen.has(ALL)}
            onChange={(isOn) => setChosen(toggled(chosen, id, isOn))}
          >
            {id}
          </Choice>
        ))}
      </fieldset>
      <div className="operate-dialog-actions">
        <Button look="outline" onPress={onCancel}>
          {text.app.cancel}
        </Button>
        <Button look="primary" type="submit" isPending={create.isPending} isDisabled={!isComplete}>
          {words.create}
        </Button>
      </div>
    </Form>
  );
}

function toggled<T>(set: ReadonlySet<T>, item: T, isOn: boolean): ReadonlySet<T> {
  const next = new Set(set);
  if (isOn) next.add(item);
  else next.delete(item);
  return next;
}

interface ChoiceProps {
  readonly isSelected: boolean;
  readonly isDisabled?: boolean;
  readonly onChange: (isOn: boolean) => void;
  readonly children: ReactNode;
}

function Choice({ isSelected, isDisabled = false, onChange, children }: ChoiceProps) {
  return (
    <Checkbox className="check" isSelected={isSelected} isDisabled={isDisabled} onChange={onChange}>
      <span className="check-box" aria-hidden>
        <Check size={12} strokeWidth={3} />
      </span>
      {children}
    </Checkbox>
  );
}

function Made({ secret, onClose }: { readonly secret: string; readonly onClose: () => void }) {
  const { text } = useWords();
  const { operate } = useOperateWords();
  const words = operate.keys;
  const copy = async (): Promise<void> => {
    notify((await copyText(secret)) ? words.copied : operate.notCopied);
  };
  return (
    <>
      <Heading slot="title" level={2}>
        {words.createdTitle}
      </Heading>
      <p>{words.createdHint}</p>
      <p className="key-secret">{secret}</p>
      <div className="operate-dialog-actions">
        <Button look="outline" onPress={() => void copy()}>
          {words.copy}
        </Button>
        <Button look="primary" onPress={onClose}>
          {text.app.close}
        </Button>
      </div>
    </>
  );
}
