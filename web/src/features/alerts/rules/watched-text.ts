/** How much of an environment its rules watch. Pure. */
import type { AlertRule } from '../../../../../schemas/api/insight/alerts.ts';
import { plural } from '../../../ui/text/format.ts';

/** `3 rules watch 24 series.`, and what of the rules watches nothing: empty where all do. */
export function watchedText(rules: readonly Pick<AlertRule, 'enabled' | 'evaluation'>[]): {
  watching: string;
  unable: string;
} {
  const enabled = rules.filter((rule) => rule.enabled);
  if (enabled.length === 0)
    return { watching: 'No rule is enabled: nothing is watched.', unable: 'Look at the rules' };
  const able = enabled.filter(({ evaluation }) => evaluation && evaluation.withValue > 0);
  const series = able.reduce((sum, { evaluation }) => sum + (evaluation?.withValue ?? 0), 0);
  const rest = enabled.length - able.length;
  return {
    watching:
      able.length === 0
        ? 'No rule has a value to watch yet.'
        : `${plural(able.length, 'rule watches', 'rules watch')} ${series.toLocaleString('en')} series.`,
    unable:
      rest === 0
        ? ''
        : `${plural(rest, 'rule has', 'rules have')} nothing to watch and cannot fire, or ${rest === 1 ? 'waits' : 'wait'} for the first evaluation`,
  };
}
