/** Chooses the moment at which a message goes out: a named one, or one that is typed. */
import {
  getLocalTimeZone,
  parseAbsoluteToLocal,
  toCalendarDateTime,
  type CalendarDateTime,
} from '@internationalized/date';
import { CalendarClock } from '../../ui/icons.tsx';
import { useState } from 'react';
import {
  Button as AriaButton,
  DateField,
  DateInput,
  DateSegment,
  Dialog,
  DialogTrigger,
  Label,
  Popover,
} from 'react-aria-components';
import { useWords } from '../../i18n/index.tsx';
import { Button, IconButton } from '../../ui/button.tsx';
import '../../ui/field.css';
import '../../ui/menu.css';
import { isSendTime, namedTimes } from './send-times.ts';

interface SendLaterProps {
  readonly label: string;
  /** True: the button has its label in words, beside the icon. */
  readonly isNamed?: boolean;
  readonly onChoose: (at: Date) => void;
}

export function SendLater({ label, isNamed = false, onChoose }: SendLaterProps) {
  return (
    <DialogTrigger>
      {isNamed ? (
        <Button look="outline">
          <CalendarClock size={16} aria-hidden />
          {label}
        </Button>
      ) : (
        <IconButton icon={CalendarClock} label={label} />
      )}
      <Popover className="popover send-later-popover" placement="top start">
        <Dialog className="send-later" aria-label={label}>
          {({ close }) => (
            <Times
              onChoose={(at) => {
                close();
                onChoose(at);
              }}
            />
          )}
        </Dialog>
      </Popover>
    </DialogTrigger>
  );
}

function Times({ onChoose }: Pick<SendLaterProps, 'onChoose'>) {
  const { text, format } = useWords();
  const [offered] = useState(() => namedTimes(new Date()));
  const [typed, setTyped] = useState<CalendarDateTime | null>(() => {
    const first = offered.find(({ name }) => name === 'tomorrow')?.at ?? new Date();
    return toCalendarDateTime(parseAbsoluteToLocal(first.toISOString()));
  });
  const [isWrong, setWrong] = useState(false);
  return (
    <>
      {offered.map(({ name, at }) => (
        <AriaButton key={name} className="menu-item send-later-named" onPress={() => onChoose(at)}>
          {text.write.times[name]}
          <span className="send-later-when">{format.full(at.toISOString())}</span>
        </AriaButton>
      ))}
      <form
        className="send-later-form"
        onSubmit={(event) => {
          event.preventDefault();
          const at = typed?.toDate(getLocalTimeZone());
          if (at !== undefined && isSendTime(at, new Date())) onChoose(at);
          else setWrong(true);
        }}
      >
        <DateField
          className="field"
          granularity="minute"
          value={typed}
          onChange={(value) => {
            setTyped(value);
            setWrong(false);
          }}
          isInvalid={isWrong}
        >
          <Label className="field-label">{text.write.sendAt}</Label>
          <DateInput className="input date-input">
            {(segment) => <DateSegment className="date-segment" segment={segment} />}
          </DateInput>
        </DateField>
        {isWrong && (
          <p className="field-error" role="alert">
            {text.write.noSendTime}
          </p>
        )}
        <Button look="primary" type="submit">
          {text.write.schedule}
        </Button>
      </form>
    </>
  );
}
