import { Input, Stack } from '@mantine/core';
/** What a deploy would do, before it does it: where it goes, what changes, whether it is sound. Then it is watched. */
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type {
  DeployEnvironmentInfo,
  DeployPreview,
} from '../../../../../schemas/api/pipelines/deployments.ts';
import { queries } from '../../../api/queries/index.ts';
import { usePlace } from '../../../app/scope.tsx';
import { useAddressParam } from '../../../app/search-params.ts';
import { Diff, DiffLayout, YamlText } from '../../../ui/code/lazy-code.tsx';
import { Notice } from '../../../ui/feedback/notice.tsx';
import { Loaded, SkeletonBlock } from '../../../ui/feedback/page-states.tsx';
import { TextAreaField } from '../../../ui/form/field.tsx';
import { MutationForm } from '../../../ui/form/mutation-form.tsx';
import { CommandBlock } from '../../../ui/primitives/command-block.tsx';
import { SegmentedControl } from '../../../ui/primitives/segmented-control.tsx';
import { plural } from '../../../ui/text/format.ts';
import { FixedNotice, useFixed } from '../../pipelines/actions/edit-lock.tsx';
import { CanaryFields } from '../rollout/canary-fields.tsx';
import { rolloutLines } from '../rollout/canary-match.ts';
import { useCanary } from '../rollout/canary-preview.ts';
import { Supersedes } from '../rollout/superseded-rollout.tsx';
import { DeployChecks, problemsOf } from './deploy-checks.tsx';
import { useDeploy, useRollout } from './deploy-mutation.ts';
import { DeployWatch } from './deploy-progress.tsx';
import { DeployTarget } from './deploy-target.tsx';

interface Props {
  env: string;
  pipelineId: string;
  close: () => void;
}

export const DeployForm = ({ env, pipelineId, close }: Props) => {
  const preview = useQuery({ ...queries.preview(pipelineId), staleTime: 0 });
  const target = useQuery(queries.deployTarget(pipelineId));
  const [deployed, setDeployed] = useState<number | null>(null);
  const [openedAt] = useState(Date.now);
  const skeleton = <SkeletonBlock height={420} label="Checking the pipeline" />;
  // What was read before may be what was drawn before. Once it is shown it stays, with what is typed into it.
  const wasAsked = Math.max(preview.dataUpdatedAt, preview.errorUpdatedAt) >= openedAt;
  const isOld = preview.isFetching && !wasAsked;
  if (deployed !== null) {
    return <DeployWatch env={env} pipelineId={pipelineId} version={deployed} close={close} />;
  }
  if (isOld) return skeleton;
  return (
    <Loaded query={preview} what="The preview" skeleton={skeleton}>
      {(shown) => (
        <Loaded query={target} what="Where it would go" skeleton={skeleton}>
          {(where) => (
            <Asking
              env={env}
              pipelineId={pipelineId}
              preview={shown}
              target={where}
              close={close}
              deployed={setDeployed}
            />
          )}
        </Loaded>
      )}
    </Loaded>
  );
};

interface AskingProps extends Props {
  preview: DeployPreview;
  target: DeployEnvironmentInfo;
  deployed: (version: number) => void;
}

const WAYS = [
  { value: 'all', word: 'To all nodes at once' },
  { value: 'canary', word: 'Canary first' },
] as const;

const Asking = ({ env, pipelineId, preview, target, close, deployed }: AskingProps) => {
  const { team } = usePlace();
  const pipeline = useQuery(queries.pipeline(pipelineId));
  const active = useQuery(queries.activeRollout(pipelineId));
  const [asked] = useAddressParam('deploy');
  const [way, setWay] = useState<'all' | 'canary'>(asked === 'canary' ? 'canary' : 'all');
  const [changelog, setChangelog] = useState('');
  const [supersede, setSupersede] = useState(false);
  const canary = useCanary(env, target);
  const ends = active.data ? { supersede } : {};
  const deploy = useDeploy({ pipelineId, changelog: changelog.trim(), ...ends }, close, deployed);
  const rollout = useRollout({ pipelineId, changelog: changelog.trim(), ...canary.input, ...ends }, close);
  const isCanary = way === 'canary';
  const mutation = isCanary ? rollout : deploy;
  const fixed = useFixed(target.managedBy);
  const inGit = isCanary && target.managedBy === 'git';
  const problems = mutation.isError ? problemsOf(mutation.error) : [];
  const mayNot = !preview.valid || fixed !== null || (active.data && !supersede);
  const count = isCanary ? canary.split.canary.length : target.matchingNodes.length;
  return (
    <MutationForm
      mutation={mutation}
      close={close}
      submit={`${isCanary ? 'Try' : 'Deploy'} version ${preview.nextVersion} ${isCanary ? 'on' : 'to'} ${plural(count, 'node')}`}
      working="Deploying…"
      disabled={mayNot || inGit || (isCanary && canary.problem !== '')}
    >
      {pipeline.data && <FixedNotice env={env} role={team.role} pipeline={pipeline.data} />}
      <Supersedes pipelineId={pipelineId} agreed={supersede} onChange={setSupersede} />
      <Input.Wrapper labelElement="div" label="How it goes out">
        <SegmentedControl label="How it goes out" value={way} options={WAYS} onChange={setWay} />
      </Input.Wrapper>
      {isCanary ? (
        <CanaryFields
          value={canary.value}
          onChange={canary.change}
          nodes={canary.nodes}
          split={canary.split}
        />
      ) : (
        <DeployTarget env={env} pipelineId={pipelineId} target={target} />
      )}
      {inGit && (
        <Stack gap="md">
          <p>
            Git describes it: write this into the spec of its manifest and push. Every commit then goes that
            way.
          </p>
          <CommandBlock label="lines for the manifest" lines={rolloutLines(canary.draft)} />
        </Stack>
      )}
      <DeployChecks
        env={env}
        pipelineId={pipelineId}
        levels={preview.levels}
        errors={problems.length > 0 ? problems : preview.validationErrors}
        warnings={preview.warnings}
      />
      <Changes preview={preview} />
      <TextAreaField
        label="What changed, and why"
        value={changelog}
        onChange={setChangelog}
        rows={2}
        maxLength={2_000}
        hint="Kept with the version."
      />
    </MutationForm>
  );
};

const Changes = ({ preview }: { preview: DeployPreview }) => {
  const { deployedYaml, configYaml, hasChanges } = preview;
  if (deployedYaml !== null && !hasChanges) {
    return (
      <Notice icon="check" tone="calm">
        The config is the one that is deployed: a deploy makes a new version of the same.
      </Notice>
    );
  }
  return (
    <section className="deploy-part" aria-label="What changes">
      <header className="deploy-part-head">
        <h3>{deployedYaml === null ? 'What is deployed' : 'What changes'}</h3>
        {deployedYaml !== null && <DiffLayout />}
      </header>
      <div className="deploy-diff">
        {deployedYaml === null ? (
          <YamlText text={configYaml} label="Configuration to be deployed" />
        ) : (
          <Diff before={deployedYaml} after={configYaml} beforeLabel="Deployed" afterLabel="To be deployed" />
        )}
      </div>
    </section>
  );
};
