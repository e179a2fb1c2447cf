/** The editor as a whole: the canvas in the middle, catalogue, options, YAML and problems around it. */
import { useMediaQuery } from '@mantine/hooks';
import { useEffect, useRef, useState } from 'react';
import { Link } from 'react-router';
import type { Pipeline } from '../../../../schemas/api/pipelines/pipelines.ts';
import { paths } from '../../app/paths.ts';
import { usePlace } from '../../app/scope.tsx';
import { Notice } from '../../ui/feedback/notice.tsx';
import { InlineError } from '../../ui/feedback/page-states.tsx';
import { UnsavedGuard } from '../../ui/form/unsaved-guard.tsx';
import { Badge } from '../../ui/primitives/badge.tsx';
import { Button } from '../../ui/primitives/button.tsx';
import { Page } from '../../ui/primitives/page.tsx';
import { AssistantProvider } from '../assistant/open-assistant.tsx';
import { FixedNotice, useFixed } from '../pipelines/actions/edit-lock.tsx';
import { applyProgram } from './apply-program.ts';
import { Canvas } from './canvas/canvas.tsx';
import { Catalogue } from './canvas/catalogue.tsx';
import { useDrawing } from './canvas/drawing.ts';
import { EmptyCanvas } from './canvas/empty-canvas.tsx';
import { ConflictDialog } from './conflict-dialog.tsx';
import { EditorProvider } from './editor-context.ts';
import { useEditorKeys } from './editor-keys.ts';
import { useGraphEditor } from './graph-editor-state.ts';
import { Inspector } from './inspector/inspector.tsx';
import { ProblemList } from './inspector/problem-list.tsx';
import { type PanelName, Panels } from './inspector/side-panels.tsx';
import { isDirty } from './model/editor-state.ts';
import { redoWord, undoWord } from './model/history.ts';
import { optionPointer, type Problem } from './model/problems.ts';
import { type Saved, useSave } from './save-graph.ts';
import { Toolbar } from './toolbar.tsx';
import { useRendered } from './yaml/rendered-yaml.ts';
import { YamlOfDeploy, YamlPanel } from './yaml/yaml-panel.tsx';

/** Below this the parts stand below one another, as tabs. */
const WIDE = '(min-width: 1180px)';

export const GraphEditor = ({ pipeline }: { pipeline: Pipeline }) => {
  const { environment, team } = usePlace();
  const env = environment.id;
  const mayEdit = team.role !== 'VIEWER';
  const readOnly = useFixed(pipeline.managedBy) !== null;
  const stacked = !useMediaQuery(WIDE, true, { getInitialValueInEffect: false });
  const [saved, setSaved] = useState<Saved | null>(null);
  const [yamlDraft, setYamlDraft] = useState<string | null>(null);

  const base = useGraphEditor(pipeline, readOnly);
  const { state } = base;
  const { graph } = base.editor;
  const dirty = isDirty(state);
  const rendered = useRendered(pipeline.id, graph, mayEdit);
  const editor = base.withProblems(rendered.result?.validationErrors);
  const saving = useSave(pipeline.id, {
    saved: (done) => {
      base.saved(done.graph, done.revision);
      setSaved(done);
    },
    // What was drawn while it was sent is in no commit yet: it stays, and so does what it was drawn upon.
    sentToGit: (sent) => {
      if (sent === graph) base.load(pipeline);
    },
  });

  const { panel, show } = base;
  const drawing = useDrawing(editor, stacked ? () => show('component') : undefined);

  const save = async (): Promise<boolean> => {
    const draft = base.draftProblem();
    if (draft !== '') editor.refuse(`Not saved. ${draft}`);
    if (readOnly || saving.pending || draft !== '') return false;
    return !dirty || saving.save(graph, state.revision);
  };
  useEditorKeys({
    undo: base.undo,
    redo: base.redo,
    save: () => void save(),
    remove: drawing.remove,
    duplicate: drawing.duplicate,
  });

  // Another user has saved: an editor without changes loads it, one with changes shows a notice.
  const isBehind = pipeline.graphRevision > state.revision && !saving.pending;
  const load = useRef(base.load);
  load.current = base.load;
  useEffect(() => {
    if (isBehind && !dirty) load.current(pipeline);
  }, [isBehind, dirty, pipeline]);
  const [comparing, setComparing] = useState(false);
  const closeConflict = (): void => {
    setComparing(false);
    saving.closeConflict();
  };

  const showProblem = (problem: Problem): void => {
    const node = graph.nodes.find(({ componentKey }) => componentKey === problem.componentKey);
    if (!node) return;
    editor.select({ nodes: [node.id], edges: [] });
    drawing.reveal(node.id);
    if (stacked) show('component');
    const pointer = optionPointer(problem, node);
    base.focusOn(pointer === '' || pointer.startsWith('/inputs') ? null : { nodeId: node.id, pointer });
  };

  const actions = { duplicate: drawing.duplicate, remove: drawing.remove };
  const panels = {
    component: () => <Inspector {...actions} />,
    yaml: () =>
      mayEdit ? (
        <YamlPanel rendered={rendered} draft={yamlDraft} setDraft={setYamlDraft} />
      ) : (
        <YamlOfDeploy pipelineId={pipeline.id} />
      ),
    add: () => <Catalogue add={drawing.add} />,
    problems: () => <ProblemList rendered={rendered} show={showProblem} />,
  };
  const names: readonly PanelName[] = readOnly
    ? mayEdit
      ? ['component', 'yaml', 'problems']
      : ['component', 'yaml']
    : ['add', 'component', 'yaml', 'problems'];
  const below = names.filter((name) => stacked || name === 'problems' || name === 'yaml');
  const fallback = stacked ? 'component' : (below.at(-1) ?? 'yaml');
  const shown = panel !== null && below.includes(panel) ? panel : fallback;

  return (
    <EditorProvider value={editor}>
      <AssistantProvider
        pipeline={{
          ...{ id: pipeline.id, name: pipeline.name, applyHere: readOnly ? undefined : applyProgram(editor) },
          blocked: dirty ? 'Save the drawing first: the assistant changes what is saved.' : null,
        }}
      >
        <Page
          title={readOnly ? `Graph of ${pipeline.name}` : `Edit ${pipeline.name}`}
          back={{ to: paths.pipeline(env, pipeline.id), word: 'Pipeline' }}
          beside={
            <>
              {dirty && <Badge tone="moving">Unsaved changes</Badge>}
              <span className="editor-saved" role="status">
                {saved && !dirty && !isBehind && (
                  <SavedNote
                    deployable={saved.deployable}
                    to={paths.pipeline(env, pipeline.id, { deploy: '1' })}
                  />
                )}
              </span>
              {readOnly && (
                <Badge tone="unknown" icon="shield">
                  Read-only
                </Badge>
              )}
            </>
          }
          actions={
            <Toolbar
              undoWord={undoWord(state.history)}
              redoWord={redoWord(state.history)}
              undo={base.undo}
              redo={base.redo}
              arrange={drawing.arrange}
              fit={drawing.fit}
              save={readOnly ? null : () => void save()}
              saving={saving.pending}
              dirty={dirty}
              readOnly={readOnly}
            />
          }
        >
          <FixedNotice env={env} role={team.role} pipeline={pipeline} />
          {saving.error !== null && <InlineError error={saving.error} />}
          {isBehind && dirty && (
            <Notice icon="warning" tone="held">
              Somebody else has saved this graph since you began.{' '}
              <Button size="small" onClick={() => setComparing(true)}>
                Compare
              </Button>
            </Notice>
          )}
          <div className="editor" data-stacked={stacked || undefined} data-read-only={readOnly || undefined}>
            {!stacked && !readOnly && <Catalogue add={drawing.add} />}
            <div className="editor-middle" data-panel={shown}>
              <Canvas
                stacked={stacked}
                empty={
                  <EmptyCanvas
                    addSource={() => {
                      if (stacked) show('add');
                      requestAnimationFrame(() =>
                        document.querySelector<HTMLElement>('.catalogue-search input')?.focus(),
                      );
                    }}
                    pasteYaml={() => show('yaml')}
                  />
                }
              />
              <p className="editor-refusal" role="status" data-shown={base.refusal !== '' || undefined}>
                {base.refusal}
              </p>
              <Panels
                label="Parts of the editor"
                names={below}
                shown={shown}
                show={show}
                problemCount={editor.problems.length}
                panels={panels}
              />
            </div>
            {!stacked && <Inspector {...actions} />}
          </div>
          <ConflictDialog
            opened={saving.conflict || comparing}
            pipelineId={pipeline.id}
            mine={graph}
            saving={saving.pending}
            error={saving.error}
            load={({ pipeline: theirs, myYaml }) => {
              base.load(theirs);
              setYamlDraft(myYaml);
              show('yaml');
              closeConflict();
            }}
            overwrite={async ({ pipeline: theirs }) => {
              if (await saving.save(graph, theirs.graphRevision)) closeConflict();
            }}
            close={closeConflict}
          />
          <UnsavedGuard
            unsaved={dirty || yamlDraft !== null}
            text={
              yamlDraft === null
                ? 'What you have drawn is not saved.'
                : 'The YAML that you edited is not applied to the drawing.'
            }
            pathOnly
            // Saving would not take along a text that is not applied.
            save={yamlDraft === null ? save : undefined}
            saving={saving.pending}
          />
        </Page>
      </AssistantProvider>
    </EditorProvider>
  );
};

const SavedNote = ({ deployable, to }: { deployable: boolean; to: string }) =>
  deployable ? (
    <>
      Saved, not deployed: <Link to={to}>deploy</Link>
    </>
  ) : (
    <>Saved, and nothing to deploy</>
  );
