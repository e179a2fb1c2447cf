import { TONE_ICON } from '../../ui/primitives/badge.tsx';
import { Icon } from '../../ui/primitives/icons.tsx';
import { sentence } from '../../ui/text/format.ts';
import type { Step } from './promotion-text.ts';

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
