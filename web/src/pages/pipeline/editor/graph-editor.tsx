/** The editor as a whole: the canvas in the middle, catalogue, options, YAML and problems around it. */
import { useMediaQuery } from '@mantine/hooks';
import { useEffect, useRef, useState } from 'react';
import { Link } from 'react-router';
import type { Pipeline } from '../../../../../schemas/api/pipelines.ts';
import { usePlace } from '../../../app/environment.tsx';
import { paths } from '../../../app/paths.ts';
import { Badge } from '../../../components/bits.tsx';
import { Icon } from '../../../components/icons.tsx';
import { Page } from '../../../components/page.tsx';
import { InlineError } from '../../../components/states.tsx';
import { UnsavedGuard } from '../../../components/unsaved-guard.tsx';
import { FixedNotice, useFixed } from '../../pipelines/fixed.tsx';
import { Canvas } from './canvas.tsx';
import { Catalogue } from './catalogue.tsx';
import { ConflictDialog } from './conflict-dialog.tsx';
import { EditorProvider } from './editor-context.ts';
import { useEditorKeys } from './editor-keys.ts';
import { isDirty } from './editor-state.ts';
import { EmptyCanvas } from './empty-canvas.tsx';
import { redoWord, undoWord } from './history.ts';
import { Inspector } from './inspector.tsx';
import { ProblemList } from './problem-list.tsx';
import { optionPointer, type Problem } from './problems.ts';
import { type PanelName, Panels } from './side-panels.tsx';
import { Toolbar } from './toolbar.tsx';
import { useDrawing } from './use-drawing.ts';
import { useGraphEditor } from './use-graph-editor.ts';
import { useRendered } from './use-rendered.ts';
import { type Saved, useSave } from './use-save.ts';
import { YamlOfDeploy, YamlPanel } from './yaml-panel.tsx';

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
    sentToGit: () => base.load(pipeline),
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

  // Somebody else has saved: who has changed nothing gets it, who has is told.
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
          <p className="notice" data-tone="held">
            <Icon name="warning" size={14} />
            <span>
              Somebody else has saved this graph since you began.{' '}
              <button type="button" className="button" data-size="small" onClick={() => setComparing(true)}>
                Compare
              </button>
            </span>
          </p>
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
