import { Alert } from '@mantine/core';
import type { ReactNode } from 'react';
import { Icon, type IconName } from '../primitives/icons.tsx';
import type { Tone } from '../primitives/tone.ts';

interface Props {
  tone?: Tone;
  icon?: IconName;
  /** `alert` interrupts, `status` is read out when there is time, `note` waits to be reached. */
  role?: 'alert' | 'status' | 'note';
  id?: string;
  className?: string;
  title?: ReactNode;
  children: ReactNode;
}

/** One thing to know, in its place. */
export const Notice = ({ tone = 'unknown', icon, role = 'note', ...rest }: Props) => (
  <Alert color={tone} role={role} icon={icon && <Icon name={icon} size={14} />} {...rest} />
);
