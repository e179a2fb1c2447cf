import type { Condition } from '../../../../schemas/api/common.ts';
import { Badge } from '../../ui/primitives/badge.tsx';
import { Commit } from '../../ui/primitives/copyable.tsx';
import { Time } from '../../ui/primitives/time.tsx';
import type { Tone } from '../../ui/primitives/tone.ts';
import { CodeText } from '../../ui/text/code-text.tsx';

const TONE: Record<Condition['status'], Tone> = { True: 'ok', False: 'failed', Unknown: 'unknown' };
const HELD = [
  'Guarded',
  'Degraded',
  'Blocked',
  'Held',
  'Suspended',
  'Waiting',
  'Observing',
  'Conflict',
  'Drifted',
  'PruneWaits',
  'PruneRefused',
  'HistoryRewritten',
];
const MOVING = ['Progressing', 'RollingOut', 'Pending', 'Starting'];

export function conditionTone(condition: Condition): Tone {
  if (HELD.includes(condition.reason)) return 'held';
  if (condition.status === 'True') return 'ok';
  if (MOVING.includes(condition.reason)) return 'moving';
  return TONE[condition.status];
}

/** Parsed, Validated, Tested, Applied, RolledOut, Healthy: each with its reason, place and time. */
export const ConditionList = ({ conditions, of }: { conditions: readonly Condition[]; of: string }) => (
  <ol className="conditions" aria-label={`Conditions of ${of}`}>
    {conditions.map((condition) => (
      <li key={condition.type} data-tone={conditionTone(condition)}>
        <span className="condition-type">{condition.type}</span>
        <Badge tone={conditionTone(condition)}>{condition.reason}</Badge>
        <span className="condition-message">
          <CodeText text={condition.message} />
          {condition.file && condition.status !== 'True' && (
            <span className="mono muted">
              {' '}
              {condition.file}
              {condition.line ? `:${condition.line}` : ''}
            </span>
          )}
        </span>
        <span className="condition-when">
          {condition.commit && <Commit sha={condition.commit} />}
          <Time at={condition.lastTransition} />
        </span>
      </li>
    ))}
  </ol>
);
