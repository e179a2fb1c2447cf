import { Badge as MantineBadge } from '@mantine/core';
import type { ReactNode } from 'react';
import { Icon, type IconName } from './icons.tsx';
import type { Tone } from './tone.ts';

export const TONE_ICON: Record<Tone, IconName> = {
  ok: 'check',
  calm: 'check',
  moving: 'moving',
  held: 'held',
  failed: 'cross',
  unknown: 'question',
};

interface Props {
  tone: Tone;
  children: ReactNode;
  tip?: string;
  /** Instead of the tone's own icon. */
  icon?: IconName;
}

/** A status: colour, icon and word together. */
export const Badge = ({ tone, children, tip, icon = TONE_ICON[tone] }: Props) => (
  <MantineBadge
    component="span"
    color={tone}
    leftSection={<Icon name={icon} size={12} />}
    data-tip={tip}
    tabIndex={tip ? 0 : undefined}
  >
    {children}
  </MantineBadge>
);
