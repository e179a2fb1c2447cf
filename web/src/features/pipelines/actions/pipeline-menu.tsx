import { Menu } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from 'react-router';
import type { PipelineSummary } from '../../../../../schemas/api/pipelines/pipelines.ts';
import { queries } from '../../../api/queries/index.ts';
import { paths } from '../../../app/paths.ts';
import { usePlace } from '../../../app/scope.tsx';
import { Icon, type IconName } from '../../../ui/primitives/icons.tsx';
import { LateMenu } from '../../../ui/primitives/row-menu.tsx';
import { BECOMES, useUiEdits } from '../../ownership/git-edits.tsx';
import { useFixed } from './edit-lock.tsx';
import { deployFixed } from './fixed-reason.ts';
import type { ActionKind } from './pipeline-actions.ts';

interface Props {
  pipeline: PipelineSummary;
  start: (kind: ActionKind, pipelines: readonly PipelineSummary[]) => void;
  /** Left out where buttons of their own stand beside. */
  without?: readonly ActionKind[];
}

export const PipelineMenu = (props: Props) => (
  <LateMenu label={`Actions on ${props.pipeline.name}`}>
    {(button) => (
      <MenuItems
        {...props}
        start={(kind, pipelines) => {
          button.current?.focus();
          props.start(kind, pipelines);
        }}
      />
    )}
  </LateMenu>
);

const ITEMS: readonly { kind: ActionKind; word: string; icon: IconName }[] = [
  { kind: 'deploy', word: 'Deploy…', icon: 'deploy' },
  { kind: 'undeploy', word: 'Undeploy…', icon: 'stop' },
  { kind: 'hold', word: 'Undeploy and hold…', icon: 'held' },
  { kind: 'clone', word: 'Clone', icon: 'copy' },
  { kind: 'promote', word: 'Promote…', icon: 'promotions' },
  { kind: 'copy', word: 'Copy as a draft to…', icon: 'moving' },
  { kind: 'move', word: 'Move to a group…', icon: 'folder' },
  { kind: 'template', word: 'Save as a template…', icon: 'library' },
];

/** What git describes may still be copied and filed. */
const FOR_ALL: readonly ActionKind[] = ['clone', 'promote', 'copy', 'move', 'template'];

const MenuItems = ({ pipeline, start, without = [] }: Props) => {
  const { environment, team } = usePlace();
  const navigate = useNavigate();
  const mayEdit = team.role !== 'VIEWER';
  const fixed = useFixed(pipeline.managedBy);
  const isInGit = pipeline.managedBy === 'git';
  const isOff = (kind: ActionKind): boolean => {
    if ((kind === 'undeploy' || kind === 'hold') && pipeline.isDraft) return true;
    if (kind === 'hold') return !mayEdit;
    if (kind === 'deploy') return deployFixed(fixed, pipeline) !== null;
    return FOR_ALL.includes(kind) ? !mayEdit : fixed !== null;
  };
  return (
    <>
      {isInGit ? <ManifestItem pipeline={pipeline} /> : null}
      {!isInGit && fixed && <Menu.Label className="menu-reason">{fixed}</Menu.Label>}
      <Menu.Item
        leftSection={<Icon name="pencil" size={14} />}
        onClick={() => navigate(paths.pipelineEditor(environment.id, pipeline.id))}
      >
        {fixed ? 'Look at the graph' : 'Edit the graph'}
      </Menu.Item>
      {ITEMS.filter(({ kind }) => !without.includes(kind) && (kind !== 'hold' || isInGit)).map(
        ({ kind, word, icon }) => (
          <Menu.Item
            key={kind}
            leftSection={<Icon name={icon} size={14} />}
            disabled={isOff(kind)}
            onClick={() => start(kind, [pipeline])}
          >
            {word}
          </Menu.Item>
        ),
      )}
      <Menu.Divider />
      <Menu.Item
        leftSection={<Icon name="trash" size={14} />}
        disabled={fixed !== null}
        onClick={() => start('delete', [pipeline])}
      >
        Delete…
      </Menu.Item>
    </>
  );
};

/** Where to change what git describes. */
const ManifestItem = ({ pipeline }: { pipeline: PipelineSummary }) => {
  const { environment } = usePlace();
  const navigate = useNavigate();
  const edits = useUiEdits();
  const git = useQuery(queries.git(environment.id));
  const manifest = git.data?.manifests.find(({ objectId }) => objectId === pipeline.id);
  return (
    <>
      <Menu.Label className="menu-reason">
        {edits === 'refuse'
          ? 'Described in git: deploying, stopping and deleting are done there.'
          : `Described in git: a change ${BECOMES[edits]}.`}
      </Menu.Label>
      {manifest && (
        <Menu.Item
          leftSection={<Icon name="git" size={14} />}
          onClick={() => navigate(paths.git(environment.id, { focus: manifest.path }))}
        >
          <span className="mono menu-path">
            {manifest.path}:{manifest.line}
          </span>
        </Menu.Item>
      )}
    </>
  );
};
