import { expect } from 'chai';
import {
  type Action,
  type EditorState,
  graphOf,
  isDirty,
  NOTHING,
  reduce,
  selectedEdge,
  selectedNode,
  startEditor,
} from '../../../../web/src/features/pipeline-editor/model/editor-state.ts';
import { removeComponents, setTitle } from '../../../../web/src/features/pipeline-editor/model/edits.ts';
import { edgeKey } from '../../../../web/src/features/pipeline-editor/model/graph.ts';
import { edge, line } from './drawing.ts';

const doing = (state: EditorState, ...actions: Action[]): EditorState => actions.reduce(reduce, state);
const title = (text: string): Action => ({
  type: 'change',
  word: 'Title',
  at: 0,
  change: (graph) => setTitle(graph, 'in', text),
});
const remove: Action = {
  type: 'change',
  word: 'Delete',
  at: 0,
  change: (graph) => removeComponents(graph, ['parse']),
};
const select = (...nodes: string[]): Action => ({ type: 'select', next: { nodes, edges: [] } });

describe('the state of the editor', () => {
  it('has something to save after a change, and nothing after it is undone or saved', () => {
    const changed = doing(startEditor(line(), 4), title('a'));
    expect(isDirty(changed)).to.equal(true);
    expect(isDirty(doing(changed, { type: 'undo' }))).to.equal(false);
    const saved = doing(changed, { type: 'saved', graph: graphOf(changed), revision: 5 });
    expect([isDirty(saved), saved.revision]).to.deep.equal([false, 5]);
    expect(isDirty(doing(saved, { type: 'undo' }))).to.equal(true);
    expect(isDirty(doing(saved, { type: 'undo' }, { type: 'redo' }))).to.equal(false);
  });

  it('has something to save where it was changed while it was being saved', () => {
    const sent = doing(startEditor(line(), 1), title('a'));
    const state = doing(sent, title('b'), { type: 'saved', graph: graphOf(sent), revision: 2 });
    expect(isDirty(state)).to.equal(true);
  });

  it('selects nothing that is not there', () => {
    const state = doing(startEditor(line(), 1), select('parse', 'gone'), remove);
    expect(state.selection).to.deep.equal(NOTHING);
    expect(doing(state, { type: 'undo' }, select('parse')).selection.nodes).to.deep.equal(['parse']);
  });

  it('tells the one component or edge that is selected', () => {
    const state = doing(startEditor(line(), 1), select('in'));
    expect(selectedNode(state)?.componentKey).to.equal('in');
    expect(selectedNode(doing(state, select('in', 'out')))).to.equal(undefined);
    const key = edgeKey(edge('in>parse'));
    const onEdge = doing(state, {
      type: 'select',
      next: (before) => ({ ...before, nodes: [], edges: [key] }),
    });
    expect(selectedEdge(onEdge)).to.deep.equal(edge('in>parse'));
  });

  it('is the same state where the same is selected again', () => {
    const state = doing(startEditor(line(), 1), select('in'));
    expect(doing(state, select('in'))).to.equal(state);
  });

  it('begins anew with a graph that is loaded', () => {
    const state = doing(startEditor(line(), 1), title('a'), { type: 'loaded', graph: line(), revision: 9 });
    expect([isDirty(state), state.revision, state.history.past.length]).to.deep.equal([false, 9, 0]);
  });
});
