import { convergeSilences, pruneSilence } from '../../controller/insight/alerts/index.ts';
import { SILENCE_MAX_DAYS } from '../../schemas/manifests/silence.ts';
import type { DesiredManifest, Problem } from '../source/index.ts';
import { flatKind } from './flat.ts';

const DAY_MS = 86_400_000;
const specOf = (manifest: DesiredManifest) => (manifest as DesiredManifest<'Silence'>).spec;

export const silenceKind = flatKind({
  kind: 'Silence',
  table: 'alert_silences',
  // Before alert rules: a rule that comes muted in one commit must not fire first.
  order: 25,
  check(manifest, { now }) {
    const { startsAt, endsAt } = specOf(manifest);
    const [start, end] = [startsAt === undefined ? null : Date.parse(startsAt), Date.parse(endsAt)];
    if (start !== null && start >= end)
      return {
        problems: [
          problemOf(
            manifest,
            `\`spec.endsAt\` (${endsAt}) is not after \`spec.startsAt\` (${startsAt})`,
            'Write a later endsAt, or an earlier startsAt.',
          ),
        ],
        notes: [],
      };
    if (end - now > SILENCE_MAX_DAYS * DAY_MS)
      return {
        problems: [
          problemOf(
            manifest,
            `\`spec.endsAt\` (${endsAt}) lies more than ${SILENCE_MAX_DAYS} days ahead`,
            'Write an earlier endsAt; a rule that is to be quiet for longer is disabled with `enabled: false`.',
          ),
        ],
        notes: [],
      };
    return { problems: [], notes: end > now ? [] : [`it ended at ${endsAt} and mutes nothing`] };
  },
  describe(manifest) {
    const { matchers, endsAt } = specOf(manifest);
    const labels = Object.entries(matchers).map(([label, value]) => `${label}=${value}`);
    return `silence of ${labels.join(', ')} until ${endsAt}`;
  },
  converge: convergeSilences,
  prune: pruneSilence,
});

function problemOf(manifest: DesiredManifest, message: string, hint: string): Problem {
  const { kind, name } = manifest;
  return { kind, name, stage: 'schema', ...manifest.at('/endsAt'), message, hint };
}
