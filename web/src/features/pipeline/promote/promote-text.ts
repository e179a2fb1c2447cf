/** What a promotion becomes, in sentences. */

import type { PromotionPreflight } from '../../../../../schemas/api/delivery/promotions.ts';
import type { EnvironmentSummary } from '../../../../../schemas/api/fleet/environments.ts';
import type { Tone } from '../../../ui/primitives/tone.ts';
import { plural } from '../../../ui/text/format.ts';

/** The environments of the team beside this one, and of them the one that changes usually go to next. */
export function targetsOf(
  environments: readonly EnvironmentSummary[],
  from: string,
): { targets: EnvironmentSummary[]; next: EnvironmentSummary | undefined } {
  const targets = environments.filter(({ id }) => id !== from);
  const place = environments.findIndex(({ id }) => id === from);
  return { targets, next: environments.slice(place + 1)[0] ?? targets[0] };
}

type Outcome = Pick<PromotionPreflight, 'outcome' | 'waiting'>;

interface Into {
  target: string;
  /** Of the target's binding; null where it is not known. */
  branch: string | null;
  /** Nodes of the target that run it, or will; null where nobody can tell. */
  nodes: number | null;
}

/** What happens once it is confirmed. */
export function outcomeText({ outcome, waiting }: Outcome, { target, branch, nodes }: Into): string {
  const against = `${branch ? `${branch} of ` : ''}${target}`;
  switch (outcome) {
    case 'AWAITING_PR_MERGE':
      return waiting?.pullRequest
        ? `Goes on with pull request #${waiting.pullRequest.number} against ${against}: it is brought up to date. Nothing changes in ${target} before it is merged.`
        : `Opens a pull request against ${against}. Nothing changes in ${target} before it is merged.`;
    case 'PENDING':
      return `${waiting ? 'Renews the request that waits' : 'Waits'} for another member of the team: once somebody else approves, it is deployed to ${target}${onNodes(nodes)}.`;
    case 'DEPLOYED':
      return `Deploys at once to ${target}${onNodes(nodes)}: nobody has to approve what is promoted there.`;
  }
}

const onNodes = (nodes: number | null): string => (nodes === null ? '' : ` on ${plural(nodes, 'node')}`);

/** On the button. */
export function promoteWord({ outcome, waiting }: Outcome, target: string): string {
  if (outcome === 'DEPLOYED') return `Deploy to ${target}`;
  if (outcome === 'PENDING') return waiting ? 'Renew the request' : 'Ask for approval';
  return waiting?.pullRequest ? `Update pull request #${waiting.pullRequest.number}` : 'Open a pull request';
}

export const HEALTH: Record<PromotionPreflight['sourceHealth']['state'], { tone: Tone; word: string }> = {
  healthy: { tone: 'ok', word: 'Healthy' },
  unhealthy: { tone: 'failed', word: 'Unhealthy' },
  'not-running': { tone: 'held', word: 'Not running' },
};

/** `/spec/nodeSelector` → `nodeSelector`, `/spec/transforms/parse/source` → `transforms.parse.source`. */
export const fieldWord = (pointer: string): string =>
  pointer
    .replace(/^\/(spec\/)?/, '')
    .split('/')
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
    .join('.');
