/** The dialog of each action on pipelines. Loaded when the first one opens. */
import { useRef } from 'react';
import type { PipelineSummary } from '../../../../../schemas/api/pipelines/pipelines.ts';
import { usePlace } from '../../../app/scope.tsx';
import { Dialog } from '../../../ui/primitives/dialog.tsx';
import { DeployForm } from '../../pipeline/deploy/deploy-form.tsx';
import { PromoteForm } from '../../pipeline/promote/promote-form.tsx';
import { MoveForm } from '../groups/move-form.tsx';
import { CopyForm } from './copy-form.tsx';
import { DeleteForm } from './delete-form.tsx';
import { DeployAllForm } from './deploy-all-form.tsx';
import { HoldForm } from './hold-form.tsx';
import { type Action, type Actions, nameAll } from './pipeline-actions.ts';
import { TemplateForm } from './template-form.tsx';
import { UndeployForm } from './undeploy-form.tsx';

const TITLES: Record<Action['kind'], (name: string) => string> = {
  deploy: (name) => `Deploy ${name}`,
  undeploy: (name) => `Undeploy ${name}`,
  hold: (name) => `Undeploy ${name} and hold it`,
  promote: (name) => `Promote ${name}`,
  copy: (name) => `Copy ${name} as a draft`,
  move: (name) => `Move ${name} to a group`,
  template: (name) => `Save ${name} as a template`,
  delete: (name) => `Delete ${name}`,
};

interface Props {
  actions: Actions;
  /** Called after a deletion, where the page is about what was deleted. */
  deleted?: () => void;
}

export const PipelineDialogs = ({ actions: { action, close }, deleted }: Props) => {
  // While it closes it shows what it was.
  const last = useRef(action);
  if (action) last.current = action;
  const shown = last.current;
  const isWide = shown?.kind === 'promote' || (shown?.kind === 'deploy' && shown.pipelines.length === 1);
  return (
    <Dialog
      title={shown ? TITLES[shown.kind](nameAll(actedOn(shown))) : ''}
      opened={action !== null}
      close={close}
      size={isWide ? 'xl' : 'md'}
    >
      {shown && <ActionBody key={keyOf(shown)} action={shown} close={close} deleted={deleted} />}
    </Dialog>
  );
};

const keyOf = ({ kind, pipelines }: Action): string => [kind, ...pipelines.map(({ id }) => id)].join(' ');

/** What git describes is neither deployed nor stopped nor deleted here. One alone is shown with the reason. */
const actedOn = ({ kind, pipelines }: Action): readonly PipelineSummary[] =>
  pipelines.length > 1 && ['deploy', 'undeploy', 'delete'].includes(kind)
    ? pipelines.filter(({ managedBy }) => managedBy === 'ui')
    : pipelines;

interface BodyProps {
  action: Action;
  close: () => void;
  deleted?: () => void;
}

export interface FormProps {
  pipelines: readonly PipelineSummary[];
  /** Those of the chosen ones that git describes. */
  leftOut: readonly PipelineSummary[];
  close: () => void;
}

const ActionBody = ({ action, close, deleted }: BodyProps) => {
  const { environment } = usePlace();
  const { kind, pipelines } = action;
  const [only] = pipelines;
  if (!only) return null;
  const changing: FormProps = {
    pipelines: actedOn(action),
    leftOut: pipelines.length > 1 ? pipelines.filter(({ managedBy }) => managedBy === 'git') : [],
    close,
  };
  const any: FormProps = { pipelines, leftOut: [], close };
  switch (kind) {
    case 'deploy':
      return pipelines.length === 1 ? (
        <DeployForm env={environment.id} pipelineId={only.id} close={close} />
      ) : (
        <DeployAllForm {...changing} />
      );
    case 'undeploy':
      return <UndeployForm {...changing} />;
    case 'hold':
      return <HoldForm pipeline={only} close={close} />;
    case 'promote':
      return <PromoteForm pipeline={only} close={close} />;
    case 'copy':
      return <CopyForm {...any} />;
    case 'move':
      return <MoveForm {...any} />;
    case 'template':
      return <TemplateForm pipelineId={only.id} name={only.name} close={close} />;
    case 'delete':
      return <DeleteForm {...changing} deleted={deleted} />;
  }
};
