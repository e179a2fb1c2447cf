/** A rollout by stages in sentences. */
import type {
  Rollout,
  RolloutSummary,
  RolloutVerdict,
} from '../../../../../schemas/api/delivery/rollouts.ts';
import type { Tone } from '../../../ui/primitives/tone.ts';
import { formatDuration, plural } from '../../../ui/text/format.ts';

export const STATUSES: Record<RolloutSummary['status'], { tone: Tone; word: string }> = {
  CANARY_DEPLOYED: { tone: 'moving', word: 'Reaching the canary' },
  HEALTH_CHECK: { tone: 'moving', word: 'Watching the canary' },
  BROADENED: { tone: 'ok', word: 'On all nodes' },
  ROLLED_BACK: { tone: 'failed', word: 'Rolled back' },
};

export const VERDICTS: Record<RolloutVerdict['verdict'], { tone: Tone; word: string }> = {
  waiting: { tone: 'moving', word: 'Watching' },
  healthy: { tone: 'ok', word: 'Healthy' },
  unhealthy: { tone: 'failed', word: 'Unhealthy' },
  unsure: { tone: 'held', word: 'Cannot say yet' },
};

type Held = Pick<RolloutSummary, 'status' | 'heldReason'>;

/** One word for where it stands; what waits for a person says so. */
export const rolloutBadge = ({ status, heldReason }: Held): { tone: Tone; word: string } =>
  heldReason === null ? STATUSES[status] : { tone: 'held', word: 'Waits for a decision' };

type Windowed = Pick<RolloutSummary, 'healthStartedAt' | 'healthEndsAt' | 'healthCheckWindowMinutes'>;

/** How much of the window is over, from 0 to 1, and what is left in words. */
export function windowOf(
  { healthStartedAt, healthEndsAt, healthCheckWindowMinutes }: Windowed,
  now: number,
): { share: number; words: string } {
  const whole = formatDuration(healthCheckWindowMinutes * 60);
  if (!healthStartedAt || !healthEndsAt) return { share: 0, words: `${whole} once the canary runs it` };
  const [start, end] = [healthStartedAt.getTime(), healthEndsAt.getTime()];
  const share = end > start ? Math.min(Math.max((now - start) / (end - start), 0), 1) : 1;
  // The clock of this machine may be behind that of the controller.
  const left = Math.ceil((end - Math.max(now, start)) / 1_000);
  return { share, words: left > 0 ? `${formatDuration(left)} left of ${whole}` : `${whole} are over` };
}

export interface Stage {
  key: 'canary' | 'watching' | 'all';
  title: string;
  tone: Tone;
  words: string;
}

type Staged = Pick<Rollout, 'status' | 'heldReason' | 'canary' | 'control' | 'onPass'> & Windowed;

/** The three stages of one that is under way, in order. */
export function stagesOf(rollout: Staged, now: number): Stage[] {
  const { status, heldReason, canary, control, onPass } = rollout;
  const watches = status === 'HEALTH_CHECK';
  const held = heldReason !== null;
  const crashed = canary.crashed > 0 ? `, ${canary.crashed} crashed` : '';
  const away = canary.unreachable > 0 ? `, ${canary.unreachable} not heard` : '';
  const { words } = windowOf(rollout, now);
  return [
    {
      key: 'canary',
      title: 'Canary',
      tone: canary.crashed > 0 ? 'failed' : watches ? 'ok' : held ? 'held' : 'moving',
      words: `${canary.onVersion} of ${plural(canary.total, 'node')} ${canary.onVersion === 1 ? 'runs' : 'run'} it${crashed}${away}`,
    },
    {
      key: 'watching',
      title: 'Watching',
      tone: watches ? (held ? 'held' : 'moving') : 'unknown',
      words,
    },
    {
      key: 'all',
      title: 'All nodes',
      tone: 'unknown',
      words: `${plural(control.total, 'more node')}, ${onPass === 'broaden' ? 'if it stays healthy' : 'when somebody says so'}`,
    },
  ];
}

type Counted = Pick<Rollout, 'canary' | 'control' | 'canaryVersion' | 'previousVersion'>;

const processes = (count: number): string =>
  `${plural(count, 'process', 'processes')} on ${plural(count, 'node')}`;

/** What broadening does to engines. */
export function broadenTouches({ control, canaryVersion, previousVersion }: Counted): string {
  const now = control.total - control.unreachable;
  const what =
    previousVersion === null
      ? `This starts ${processes(now)}: they ran nothing of it so far.`
      : `This restarts ${processes(now)}: ${now === 1 ? 'it goes' : 'they go'} from version ${previousVersion} to version ${canaryVersion}.`;
  return what + later(control.unreachable);
}

/** What rolling back does to engines. */
export function rollbackTouches({ canary, canaryVersion, previousVersion }: Counted): string {
  const now = canary.total - canary.unreachable;
  const what =
    previousVersion === null
      ? `This stops ${processes(now)}: nothing ran there before.`
      : `This restarts ${processes(now)}: ${now === 1 ? 'it goes' : 'they go'} from version ${canaryVersion} back to version ${previousVersion}.`;
  return what + later(canary.unreachable);
}

const later = (count: number): string =>
  count === 0
    ? ''
    : ` ${plural(count, 'more node')} ${count === 1 ? 'is not heard now and follows when it comes' : 'are not heard now and follow when they come'} back.`;
