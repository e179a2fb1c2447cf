/** A configuration of Vector that becomes a draft as it is. */
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { useNavigate } from 'react-router';
import { api } from '../../api/client.ts';
import { paths } from '../../app/paths.ts';
import { usePlace } from '../../app/scope.tsx';
import { notifyFailure } from '../../ui/feedback/toast.tsx';
import { NameField } from '../../ui/form/field.tsx';
import { MutationForm } from '../../ui/form/mutation-form.tsx';
import { Badge } from '../../ui/primitives/badge.tsx';
import { ConfigProblems, useConfigCheck } from '../engine-reports/config-check.tsx';
import { MadeHereNotice } from '../ownership/git-edits.tsx';
import { useRenewPipelines } from '../pipelines/actions/pipeline-actions.ts';
import { pipelineNameProblem } from '../pipelines/pipeline-name.ts';
import { TextDrop } from './text-drop.tsx';
import { formatOfName, formatOfText, toYaml, type VectorFormat } from './vector-config.ts';

const MAX_BYTES = 1_048_576;
const FORMAT_WORD: Readonly<Record<VectorFormat, string>> = { yaml: 'YAML', json: 'JSON', toml: 'TOML' };

export const VectorForm = () => {
  const { environment } = usePlace();
  const navigate = useNavigate();
  const renew = useRenewPipelines();
  const [name, setName] = useState('');
  const [text, setText] = useState('');
  const [yaml, setYaml] = useState('');
  const [problem, setProblem] = useState<string | null>(null);
  const [fileFormat, setFileFormat] = useState<VectorFormat | null>(null);
  const format = fileFormat ?? formatOfText(text);
  const check = useConfigCheck(yaml, environment.id);

  const take = async (value: string, fileName: string | null): Promise<void> => {
    const named = fileName === null ? null : formatOfName(fileName);
    setText(value);
    setFileFormat(named);
    try {
      setYaml(await toYaml(value, named ?? formatOfText(value)));
      setProblem(null);
    } catch (error) {
      setYaml('');
      setProblem(error instanceof Error ? (error.message.split('\n')[0] ?? '') : String(error));
    }
  };
  const create = useMutation({
    mutationFn: async () => {
      const { id } = await api.pipeline.create.mutate({ name, environmentId: environment.id });
      // The pipeline is there now: later failures are reported separately.
      try {
        const graph = await api.pipeline.readYaml.mutate({ pipelineId: id, configYaml: yaml });
        await api.pipeline.saveGraph.mutate({ pipelineId: id, ...graph });
      } catch (error) {
        notifyFailure(`${name} was made, but not filled`, error);
      }
      return id;
    },
    onSuccess: async (id) => {
      await renew();
      await navigate(paths.pipelineEditor(environment.id, id));
    },
  });
  const nameProblem = name && pipelineNameProblem(name);
  const isReadable = yaml.trim() !== '' && !check.errors.some(({ level }) => level === 'structure');
  return (
    <MutationForm
      mutation={create}
      submit={`Make a draft in ${environment.name}`}
      working="Making it…"
      disabled={!name || nameProblem !== '' || !isReadable || check.isBehind}
      autoComplete="off"
    >
      <NameField value={name} onChange={setName} problem={nameProblem} hint="Of the pipeline." />
      <TextDrop
        label="Configuration of Vector"
        value={text}
        maxBytes={MAX_BYTES}
        accept=".yaml,.yml,.json,.toml"
        onChange={(value, fileName) => void take(value, fileName)}
      />
      {text.trim() !== '' && (
        <p>
          Read as <Badge tone={problem === null ? 'ok' : 'failed'}>{FORMAT_WORD[format]}</Badge>
          {problem !== null && <span role="alert"> {problem}</span>}
        </p>
      )}
      <ConfigProblems check={check} show={() => undefined} />
      <MadeHereNotice kind="Pipeline" many="Pipelines" />
    </MutationForm>
  );
};
