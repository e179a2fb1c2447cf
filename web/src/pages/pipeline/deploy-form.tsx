/** What a deploy would do, before it does it: where it goes, what changes, whether it is sound. Then it is watched. */
import { useMutation, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { DeployEnvironmentInfo, DeployPreview } from '../../../../schemas/api/pipelines.ts';
import { api } from '../../api/client.ts';
import { queries } from '../../api/queries.ts';
import { usePlace } from '../../app/environment.tsx';
import { TextAreaField } from '../../components/field.tsx';
import { plural } from '../../components/format.ts';
import { useBecameGit } from '../../components/git-edits.tsx';
import { Icon } from '../../components/icons.tsx';
import { Diff, DiffLayout, YamlText } from '../../components/lazy-code.tsx';
import { MutationForm } from '../../components/mutation-form.tsx';
import { Loaded, SkeletonBlock } from '../../components/states.tsx';
import { useRenewPipelines } from '../pipelines/actions.ts';
import { FixedNotice, useFixed } from '../pipelines/fixed.tsx';
import { DeployChecks, problemsOf } from './deploy-checks.tsx';
import { DeployTarget } from './deploy-target.tsx';
import { DeployWatch } from './deploy-watch.tsx';

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
  // What was read before may be what was drawn before.
  const isOld = preview.isFetching && preview.dataUpdatedAt < openedAt;
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

const Asking = ({ env, pipelineId, preview, target, close, deployed }: AskingProps) => {
  const { team } = usePlace();
  const renew = useRenewPipelines();
  const became = useBecameGit();
  const pipeline = useQuery(queries.pipeline(pipelineId));
  const [changelog, setChangelog] = useState('');
  const deploy = useMutation({
    mutationFn: () => api.deploy.agent.mutate({ pipelineId, changelog: changelog.trim() }),
    onSuccess: async (done) => {
      if (became(done)) close();
      else if ('versionNumber' in done) deployed(done.versionNumber);
      await renew();
    },
  });
  const fixed = useFixed(target.managedBy);
  const problems = deploy.isError ? problemsOf(deploy.error) : [];
  return (
    <MutationForm
      mutation={deploy}
      close={close}
      submit={`Deploy version ${preview.nextVersion} to ${plural(target.matchingNodes.length, 'node')}`}
      working="Deploying…"
      disabled={!preview.valid || fixed !== null}
    >
      {pipeline.data && <FixedNotice env={env} role={team.role} pipeline={pipeline.data} />}
      <DeployTarget env={env} pipelineId={pipelineId} target={target} />
      <DeployChecks
        env={env}
        pipelineId={pipelineId}
        levels={preview.levels}
        errors={problems.length > 0 ? problems : preview.validationErrors}
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
      <p className="notice" data-tone="calm">
        <Icon name="check" size={14} />
        The config is the one that is deployed: a deploy makes a new version of the same.
      </p>
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
