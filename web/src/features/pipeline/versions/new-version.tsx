import { useMutation, useQuery } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import type { Pipeline } from '../../../../../schemas/api/pipelines/pipelines.ts';
import type { ValidationError } from '../../../../../schemas/api/pipelines/validation.ts';
import { api } from '../../../api/client.ts';
import { queries } from '../../../api/queries/index.ts';
import type { CodeHandle, CodeProblem } from '../../../ui/code/code-editor.tsx';
import { CodeField } from '../../../ui/code/lazy-code.tsx';
import { Loaded, SkeletonBlock } from '../../../ui/feedback/page-states.tsx';
import { notify } from '../../../ui/feedback/toast.tsx';
import { TextAreaField } from '../../../ui/form/field.tsx';
import { MutationForm } from '../../../ui/form/mutation-form.tsx';
import { Dialog } from '../../../ui/primitives/dialog.tsx';
import { ConfigProblems, useConfigCheck } from '../../engine-reports/config-check.tsx';
import { BecomesNotice, useBecameGit } from '../../ownership/git-edits.tsx';
import { useRenewPipelines } from '../../pipelines/actions/pipeline-actions.ts';
import { problemsOf } from '../deploy/deploy-checks.tsx';

interface Props {
  pipeline: Pipeline;
  close: () => void;
}

/** A version out of an engine config, begun with what is drawn. It is not deployed by that. */
export const NewVersionDialog = ({ pipeline, close }: Props) => {
  const preview = useQuery({ ...queries.preview(pipeline.id), refetchOnWindowFocus: false });
  return (
    <Dialog title={`New version of ${pipeline.name} from YAML`} opened close={close} size="xl">
      <Loaded
        query={preview}
        what="The configuration"
        skeleton={<SkeletonBlock height={360} label="Loading the configuration" />}
      >
        {({ configYaml }) => <NewVersionForm pipeline={pipeline} first={configYaml} close={close} />}
      </Loaded>
    </Dialog>
  );
};

const asProblem = ({ message, line = 1, column = 1 }: ValidationError): CodeProblem => ({
  severity: 'error',
  message,
  line,
  column,
});

const NewVersionForm = ({ pipeline, first, close }: Props & { first: string }) => {
  const renew = useRenewPipelines();
  const became = useBecameGit();
  const [text, setText] = useState(first);
  const [changelog, setChangelog] = useState('');
  const editor = useRef<CodeHandle>(null);
  const check = useConfigCheck(text, pipeline.environmentId);
  const save = useMutation({
    mutationFn: () =>
      api.pipeline.createVersion.mutate({
        pipelineId: pipeline.id,
        configYaml: text,
        ...(changelog.trim() ? { changelog: changelog.trim() } : {}),
      }),
    onSuccess: async (made) => {
      await renew();
      if (!became(made) && 'versionNumber' in made)
        notify(`Version ${made.versionNumber} is made. It is not deployed.`);
      close();
    },
  });
  // What the server refused stands at its place until the text is another.
  const { reset } = save;
  // biome-ignore lint/correctness/useExhaustiveDependencies: another text is the occasion.
  useEffect(() => reset(), [text, reset]);
  const refused = save.isError ? problemsOf(save.error) : [];
  const problems = refused.length > 0 ? refused : check.errors;
  return (
    <MutationForm
      mutation={save}
      close={close}
      submit="Make the version"
      working="Saving…"
      disabled={text.trim() === ''}
    >
      <BecomesNotice git={pipeline.git} />
      <p>
        The graph is read from it: components keep their places, comments are not kept. It is saved as a new
        version, and runs when you deploy it.
      </p>
      <div className="code-box">
        <CodeField
          label="Engine config in YAML"
          language="yaml"
          value={text}
          onChange={setText}
          problems={problems.map(asProblem)}
          handle={editor}
        />
      </div>
      <ConfigProblems
        check={check}
        errors={problems}
        show={(line, column) => editor.current?.show(line, column)}
      />
      <TextAreaField
        label="What changed, and why"
        value={changelog}
        onChange={setChangelog}
        rows={2}
        maxLength={2_000}
      />
    </MutationForm>
  );
};
