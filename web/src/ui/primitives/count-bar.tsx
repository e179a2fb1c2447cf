import { Link } from 'react-router';
import { TONE_ICON } from './badge.tsx';
import { Icon } from './icons.tsx';
import type { Tone } from './tone.ts';

export interface Count {
  tone: Tone;
  word: string;
  count: number;
  href: string;
}

/** How many are in which state: one bar, and the numbers in words, each leading to its list. */
export const CountBar = ({
  label,
  counts,
  size = 'block',
}: {
  label: string;
  counts: Count[];
  /** `row` fits a row of a table. */
  size?: 'block' | 'row';
}) => {
  const shown = counts.filter(({ count }) => count > 0);
  return (
    <div className="counts" data-size={size}>
      <div className="count-bar" aria-hidden="true">
        {shown.map(({ tone, word, count }) => (
          <span key={word} data-tone={tone} style={{ flexGrow: count }} />
        ))}
      </div>
      <ul aria-label={label}>
        {shown.map(({ tone, word, count, href }) => (
          <li key={word}>
            <Link to={href} className="count" data-tone={tone}>
              <Icon name={TONE_ICON[tone]} size={12} />
              <span className="mono">{count.toLocaleString('en')}</span> {word}
            </Link>
          </li>
        ))}
        {shown.length === 0 && <li className="muted">{size === 'row' ? 'none' : 'none yet'}</li>}
      </ul>
    </div>
  );
};
