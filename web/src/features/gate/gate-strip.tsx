/** The gate strip: how far a change has come, from git to the running engines, and what stops it. */
import { type KeyboardEvent, useRef } from 'react';
import { Link } from 'react-router';
import type { Gate, GateSegment, GateState } from '../../../../schemas/api/common.ts';
import { TONE_ICON } from '../../ui/primitives/badge.tsx';
import { Icon } from '../../ui/primitives/icons.tsx';
import { Time } from '../../ui/primitives/time.tsx';
import type { Tone } from '../../ui/primitives/tone.ts';
import { formatExact, shortCommit } from '../../ui/text/format.ts';
import { passed } from './gate-state.ts';

const WORD: Record<GateState, string> = {
  done: 'done',
  moving: 'moving',
  held: 'held',
  failed: 'failed',
  unknown: 'unknown',
};

/** Where a click on a segment leads: to the cause of its state. */
export type CauseOf = (segment: GateSegment) => string;

const carried = (segment: GateSegment): string =>
  segment.commit ? shortCommit(segment.commit) : segment.version === null ? '–' : `v${segment.version}`;

/** All points that it passes carry the same thing and nothing is on its way. */
export function isCalm(gate: Gate): boolean {
  const points = passed(gate);
  return points.every(
    (segment) => segment.state === 'done' && carried(segment) === carried(points[0] ?? segment),
  );
}

function toneOf(segment: GateSegment, calm: boolean): Tone {
  if (segment.state === 'done') return calm ? 'calm' : 'ok';
  return segment.state;
}

function sentence(segment: GateSegment): string {
  const at = segment.at ? `, ${formatExact(segment.at)}` : '';
  return `${segment.point}: ${carried(segment)}, ${WORD[segment.state]}${at}. ${segment.reason}`.trim();
}

interface Props {
  gate: Gate;
  /** What the strip is about, for screen readers. */
  of: string;
  causeOf: CauseOf;
  /** `large` names the points and shows their times. */
  size?: 'small' | 'large';
}

/** One tab stop; the arrow keys walk the four points. */
export const GateStrip = ({ gate, of, causeOf, size = 'small' }: Props) => {
  const root = useRef<HTMLDivElement>(null);
  const calm = isCalm(gate);
  const worst = gate.findIndex((segment) => segment.state !== 'done');

  const onKeyDown = (event: KeyboardEvent): void => {
    const step = event.key === 'ArrowRight' ? 1 : event.key === 'ArrowLeft' ? -1 : 0;
    if (step === 0) return;
    event.preventDefault();
    const links: (Element | null)[] = [...(root.current?.querySelectorAll('a') ?? [])];
    const index = links.indexOf(document.activeElement);
    const next = links[(index + step + links.length) % links.length];
    if (next instanceof HTMLElement) next.focus();
  };

  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset is for inputs; this groups links.
    <div
      ref={root}
      className="gate"
      data-size={size}
      data-calm={calm || undefined}
      role="group"
      aria-label={`Gate of ${of}`}
      onKeyDown={onKeyDown}
    >
      {gate.map((segment, index) => {
        const tone = toneOf(segment, calm);
        const before = gate[index - 1];
        const differs = !calm && before !== undefined && carried(before) !== carried(segment);
        return (
          <Link
            key={segment.point}
            to={causeOf(segment)}
            className="gate-segment"
            data-tone={tone}
            data-differs={differs || undefined}
            data-tip={sentence(segment)}
            // The large one says it all in its text.
            aria-label={size === 'small' ? sentence(segment) : undefined}
            tabIndex={index === Math.max(worst, 0) ? 0 : -1}
          >
            {size === 'large' && <span className="gate-point">{segment.point}</span>}
            <span className="gate-value">
              <Icon name={TONE_ICON[tone]} size={12} />
              <span className="gate-commit mono">{carried(segment)}</span>
            </span>
            {size === 'large' && (
              <span className="gate-detail">
                <span className="gate-when">
                  {WORD[segment.state]}
                  {segment.at && (
                    <>
                      {' · '}
                      <Time at={segment.at} />
                    </>
                  )}
                </span>
                <span className="gate-reason">{segment.reason}</span>
              </span>
            )}
          </Link>
        );
      })}
    </div>
  );
};
