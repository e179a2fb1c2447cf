import type { ReactNode } from 'react';
import { Icon } from '../primitives/icons.tsx';
import type { Tone } from '../primitives/tone.ts';

interface Props {
  tone: Tone;
  title: ReactNode;
  children: ReactNode;
}

/** What is wrong with the whole subject of a page: what happened, what it means, what to do. */
export const Banner = ({ tone, title, children }: Props) => (
  <div className="banner" data-tone={tone} role="status">
    <Icon name="warning" size={18} />
    <div className="banner-text">
      <p className="banner-title">{title}</p>
      {children}
    </div>
  </div>
);
