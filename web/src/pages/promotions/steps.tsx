import { TONE_ICON } from '../../components/bits.tsx';
import { sentence } from '../../components/format.ts';
import { Icon } from '../../components/icons.tsx';
import type { Step } from './words.ts';

/** How far a promotion has come: the gate strip of something that is no commit yet. */
export const Steps = ({ steps, of }: { steps: readonly Step[]; of: string }) => {
  const calm = steps.every(({ tone }) => tone === 'ok');
  return (
    <ol className="gate" data-size="small" data-calm={calm || undefined} aria-label={`Way of ${of}`}>
      {steps.map(({ word, tone, means }) => (
        <li
          key={word}
          className="gate-segment"
          data-tone={calm ? 'calm' : tone}
          data-tip={sentence(`${word}: ${means}`)}
        >
          <span className="gate-value">
            <Icon name={TONE_ICON[tone]} size={12} />
            {word}
            <span className="sr-only">: {means}</span>
          </span>
        </li>
      ))}
    </ol>
  );
};
