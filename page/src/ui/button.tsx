/** Buttons: with a text, or with only an icon, whose name a tooltip shows. */
import type { IconType } from './icons.tsx';
import type { Ref } from 'react';
import { Button as AriaButton, Tooltip, TooltipTrigger, type ButtonProps } from 'react-aria-components';
import './button.css';

type Look = 'plain' | 'primary' | 'outline';

interface Props extends Omit<ButtonProps, 'className'> {
  readonly look?: Look;
  readonly ref?: Ref<HTMLButtonElement>;
}

export function Button({ look = 'plain', ...props }: Props) {
  return <AriaButton {...props} className={`button button-${look}`} />;
}

interface IconButtonProps extends Omit<ButtonProps, 'className' | 'children' | 'aria-label'> {
  readonly icon: IconType;
  readonly ref?: Ref<HTMLButtonElement>;
  readonly label: string;
  /** The key with the same effect. */
  readonly shortcut?: string;
}

const TOOLTIP_DELAY_MS = 500;

export function IconButton({ icon: Icon, label, shortcut, ...props }: IconButtonProps) {
  return (
    <TooltipTrigger delay={TOOLTIP_DELAY_MS}>
      <AriaButton {...props} aria-label={label} className="button button-icon">
        <Icon size={18} strokeWidth={1.75} aria-hidden />
      </AriaButton>
      <Tooltip className="tooltip" offset={6}>
        {label}
        {shortcut !== undefined && <kbd>{shortcut}</kbd>}
      </Tooltip>
    </TooltipTrigger>
  );
}
