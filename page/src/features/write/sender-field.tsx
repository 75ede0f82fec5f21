/** Who the message goes out as: a choice among several addresses, with a field for the free part of a pattern; a single address is text. */
import type { Address } from 'email-worker-client';
import { useId, useRef, useState, type KeyboardEvent, type Ref } from 'react';
import { Button as AriaButton, Menu, MenuItem, MenuTrigger, Popover } from 'react-aria-components';
import { Check, ChevronDown } from '../../ui/icons.tsx';
import { shown } from '../../ui/shown.ts';
import '../../ui/menu.css';
import { useSendAsWords } from './send-as-words.ts';
import {
  aroundWild,
  freePartOf,
  fromFor,
  isWhole,
  senderFor,
  type ChosenSender,
  type Sender,
} from './senders.ts';
import type { SenderProblem, WriterFields } from './writer-fields.ts';
import './send-as.css';

interface SenderFieldProps {
  readonly from: ChosenSender;
  /** Of a program's draft, in place of the name of the sender; null: none. */
  readonly fromName: string | null;
  readonly senders: readonly Sender[];
  /** The sender that the service uses for an answer; null: From of the account. */
  readonly usual: Address | null;
  /** True: the answered email decides the account. */
  readonly isAccountGiven: boolean;
  readonly problem: SenderProblem | null;
  readonly onChange: (changed: Partial<WriterFields>) => void;
  readonly onKeyDown: (event: KeyboardEvent) => void;
}

export function SenderField(props: SenderFieldProps) {
  const { senders, usual, isAccountGiven, problem, onChange, onKeyDown } = props;
  const { text, sendAs } = useSendAsWords();
  const from = { ...props.from, name: props.fromName?.trim() || props.from.name };
  const id = useId();
  /** Stays while it is typed, also when what is typed is an address of its own for a moment. */
  const [chosenPattern, setPattern] = useState<Sender | null>(null);
  const pattern =
    chosenPattern ?? (from.sender !== null && from.sender.kind !== 'plain' ? from.sender : null);
  const current = pattern ?? from.sender;
  const isLost = senders.length > 0 && from.sender === null && isWhole(from.address);
  const free = useRef<HTMLInputElement>(null);
  /** True: the menu, which gives the focus back to its button, was closed by the choice of a pattern. */
  const passesFocus = useRef(false);
  const choose = (sender: Sender): void => {
    const isPattern = sender.kind !== 'plain';
    passesFocus.current = isPattern;
    // What was typed stays.
    if (isPattern && current !== null && keyOf(sender) === keyOf(current)) return;
    setPattern(isPattern ? sender : null);
    onChange({
      ...(isAccountGiven ? {} : { account_id: sender.accountId }),
      from: fromFor(sender, senders, usual),
      from_name: null,
    });
  };
  const said =
    isLost || problem === 'refused'
      ? sendAs.refused(shown(from.address))
      : problem === 'unfinished'
        ? sendAs.unfinished
        : null;
  return (
    <div className="writer-field">
      <span className="writer-label" id={`${id}-label`}>
        {text.write.from}
      </span>
      <div className="sender">
        {senders.length > 1 || isLost ? (
          <MenuTrigger>
            <AriaButton
              className="sender-button"
              aria-labelledby={`${id}-label ${id}-value`}
              {...(said === null ? {} : { 'aria-describedby': `${id}-problem` })}
              onKeyDown={onKeyDown}
              onFocus={() => {
                if (passesFocus.current) free.current?.focus();
                passesFocus.current = false;
              }}
            >
              <span className="sender-value" id={`${id}-value`}>
                {pattern === null ? (
                  <NameAndAddress name={from.name} address={from.address} />
                ) : (
                  <span className="truncate">{shown(from.name) || patternOf(pattern)}</span>
                )}
              </span>
              <ChevronDown size={16} aria-hidden />
            </AriaButton>
            <Popover className="popover sender-popover" placement="bottom start">
              <Menu
                className="menu"
                aria-label={text.write.from}
                selectionMode="single"
                selectedKeys={current === null ? [] : [keyOf(current)]}
                disallowEmptySelection
              >
                {senders.map((sender) => (
                  <SenderItem
                    key={keyOf(sender)}
                    sender={sender}
                    isCurrent={current !== null && keyOf(sender) === keyOf(current)}
                    isWrittenTo={
                      usual !== null && senderFor(senders, sender.accountId, usual.address) === sender
                    }
                    onChoose={() => choose(sender)}
                  />
                ))}
              </Menu>
            </Popover>
          </MenuTrigger>
        ) : (
          <span className="sender-value sender-only">
            <NameAndAddress name={from.name} address={from.address} />
          </span>
        )}
        {pattern !== null && (
          <FreePart
            ref={free}
            pattern={pattern}
            address={from.address}
            problemId={said === null ? null : `${id}-problem`}
            onChange={(address) => {
              setPattern(pattern);
              onChange({ from: address });
            }}
            onKeyDown={onKeyDown}
          />
        )}
        {said !== null && (
          <p className="field-error sender-problem" id={`${id}-problem`} role="alert">
            {said}
          </p>
        )}
      </div>
    </div>
  );
}

const keyOf = ({ accountId, address }: Sender): string => `${accountId} ${address}`;

const patternOf = (pattern: Sender): string => pattern.address.replace('*', '…');

function NameAndAddress({ name: given, address }: Address) {
  const name = shown(given);
  return (
    <>
      {name !== '' && <span className="truncate">{name}</span>}{' '}
      <span className={name === '' ? 'truncate' : 'sender-address truncate'}>{shown(address)}</span>
    </>
  );
}

interface SenderItemProps {
  readonly sender: Sender;
  readonly isCurrent: boolean;
  readonly isWrittenTo: boolean;
  readonly onChoose: () => void;
}

function SenderItem({ sender, isCurrent, isWrittenTo, onChoose }: SenderItemProps) {
  const { sendAs } = useSendAsWords();
  const name = shown(sender.name);
  const address = sender.kind === 'plain' ? shown(sender.address) : sendAs.anyOf(patternOf(sender));
  return (
    <MenuItem
      id={keyOf(sender)}
      className="menu-item sender-item"
      textValue={`${name} ${address}`}
      onAction={onChoose}
    >
      <span className="sender-lines">
        <span className="truncate">{name === '' ? address : name}</span>
        {name !== '' && <span className="sender-address truncate">{address}</span>}
        {isWrittenTo && <span className="sender-hint">{sendAs.writtenTo}</span>}
      </span>
      {isCurrent && <Check className="menu-item-check" size={16} aria-hidden />}
    </MenuItem>
  );
}

interface FreePartProps {
  readonly ref: Ref<HTMLInputElement>;
  readonly pattern: Sender;
  readonly address: string;
  readonly problemId: string | null;
  readonly onChange: (address: string) => void;
  readonly onKeyDown: (event: KeyboardEvent) => void;
}

/** The part of an address that its pattern leaves open, between the parts that it fixes. */
function FreePart({ ref, pattern, address, problemId, onChange, onKeyDown }: FreePartProps) {
  const { sendAs } = useSendAsWords();
  const [before, after] = aroundWild(pattern);
  return (
    <span className="sender-free">
      {before}
      <input
        ref={ref}
        aria-label={sendAs.typed(patternOf(pattern))}
        aria-invalid={problemId === null ? undefined : true}
        aria-describedby={problemId ?? undefined}
        value={freePartOf(pattern, address)}
        onChange={({ target }) => onChange(`${before}${target.value.trim()}${after}`)}
        onKeyDown={onKeyDown}
        autoComplete="off"
        autoCapitalize="off"
        spellCheck={false}
      />
      <span className="truncate">{after}</span>
    </span>
  );
}
