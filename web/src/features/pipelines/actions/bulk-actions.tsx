import type { PipelineSummary } from '../../../../../schemas/api/pipelines/pipelines.ts';
import { usePlace } from '../../../app/scope.tsx';
import { Button } from '../../../ui/primitives/button.tsx';
import type { IconName } from '../../../ui/primitives/icons.tsx';
import { VIEWER_REASON } from './fixed-reason.ts';
import type { ActionKind, Actions } from './pipeline-actions.ts';

const BUTTONS: readonly { kind: ActionKind; word: string; icon: IconName }[] = [
  { kind: 'deploy', word: 'Deploy', icon: 'deploy' },
  { kind: 'undeploy', word: 'Undeploy', icon: 'stop' },
  { kind: 'clone', word: 'Clone', icon: 'copy' },
  { kind: 'copy', word: 'Copy to…', icon: 'moving' },
  { kind: 'move', word: 'Move to a group', icon: 'folder' },
  { kind: 'delete', word: 'Delete', icon: 'trash' },
];

/** Deploying, stopping and deleting are for those that git does not describe. */
const OWN_ONLY: readonly ActionKind[] = ['deploy', 'undeploy', 'delete'];

interface Props {
  pipelines: readonly PipelineSummary[];
  start: Actions['start'];
}

export const BulkActions = ({ pipelines, start }: Props) => {
  const { team } = usePlace();
  const own = pipelines.filter(({ managedBy }) => managedBy === 'ui');
  const reasonFor = (kind: ActionKind): string | undefined => {
    if (team.role === 'VIEWER') return VIEWER_REASON;
    if (OWN_ONLY.includes(kind) && own.length === 0) return 'Git describes all of them: change it there.';
    if (kind === 'undeploy' && own.every(({ isDraft }) => isDraft)) return 'None of them is deployed.';
    return undefined;
  };
  return (
    <span className="toolbar">
      {BUTTONS.map(({ kind, word, icon }) => (
        <Button
          icon={icon}
          key={kind}
          size="small"
          disabled={reasonFor(kind) !== undefined}
          tip={reasonFor(kind)}
          onClick={() => start(kind, pipelines)}
        >
          {word}
        </Button>
      ))}
    </span>
  );
};
