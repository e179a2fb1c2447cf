import { ActionIcon, Button as MantineButton } from '@mantine/core';
import type { ComponentProps, ReactNode } from 'react';
import { Link, type LinkProps as RouterLinkProps } from 'react-router';
import { Icon, type IconName } from './icons.tsx';

type Native = Omit<ComponentProps<'button'>, 'color' | 'style' | 'size'>;

interface ButtonProps extends Native {
  kind?: 'primary' | 'danger';
  size?: 'small';
  icon?: IconName;
  /** Shown on hover and focus, on a disabled button too. */
  tip?: string;
}

const lookOf = ({ kind, size, icon, tip }: Pick<ButtonProps, 'kind' | 'size' | 'icon' | 'tip'>) => ({
  variant: kind === 'primary' ? 'filled' : kind === 'danger' ? 'outline' : 'default',
  color: kind === 'danger' ? 'failed' : undefined,
  size: size === 'small' ? 'xs' : 'sm',
  leftSection: icon && <Icon name={icon} size={size === 'small' ? 12 : 16} />,
  'data-tip': tip,
});

/** A verb and its object. */
export const Button = ({ kind, size, icon, tip, type = 'button', ...rest }: ButtonProps) => (
  <MantineButton type={type} {...lookOf({ kind, size, icon, tip })} {...rest} />
);

interface IconButtonProps extends Native {
  icon: IconName;
  /** With the name of what is acted on: it is read out alone. */
  label: string;
  tip?: string;
  size?: number;
}

/** A button that shows an icon only. */
export const IconButton = ({ icon, label, tip, size = 14, type = 'button', ...rest }: IconButtonProps) => (
  <ActionIcon type={type} aria-label={label} data-tip={tip} {...rest}>
    <Icon name={icon} size={size} />
  </ActionIcon>
);

interface LinkProps extends Pick<ButtonProps, 'kind' | 'size' | 'icon' | 'tip'> {
  children: ReactNode;
  onClick?: () => void;
}

/** Looks like a button and leads to another page of this UI. */
export const ButtonLink = ({
  kind,
  size,
  icon,
  tip,
  to,
  ...rest
}: LinkProps & Pick<RouterLinkProps, 'to'>) => (
  <MantineButton component={Link} to={to} {...lookOf({ kind, size, icon, tip })} {...rest} />
);

interface AnchorProps extends LinkProps, Pick<ComponentProps<'a'>, 'href' | 'target' | 'rel' | 'download'> {}

/** Looks like a button and leads out of this UI, or to a file. */
export const ButtonAnchor = ({ kind, size, icon, tip, ...rest }: AnchorProps) => (
  <MantineButton component="a" {...lookOf({ kind, size, icon, tip })} {...rest} />
);
