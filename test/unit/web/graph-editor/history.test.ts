import { expect } from 'chai';
import {
  BURST_MS,
  type History,
  MAX_STEPS,
  record,
  redo,
  redoWord,
  startHistory,
  undo,
  undoWord,
} from '../../../../web/src/features/pipeline-editor/model/history.ts';

const step = (history: History<number>, state: number, burst?: string, at = 0) =>
  record(history, state, { word: `to ${state}`, at, ...(burst && { burst }) });

describe('the history of a drawing', () => {
  it('goes back and forth over every step, and says what each was', () => {
    let history = step(step(startHistory(0), 1), 2);
    expect([undoWord(history), redoWord(history)]).to.deep.equal(['to 2', null]);
    history = undo(history);
    expect([history.present.state, undoWord(history), redoWord(history)]).to.deep.equal([1, 'to 1', 'to 2']);
    history = undo(history);
    expect([history.present.state, undoWord(history)]).to.deep.equal([0, null]);
    history = redo(redo(history));
    expect([history.present.state, redoWord(history)]).to.deep.equal([2, null]);
  });

  it('has nothing to do at either end', () => {
    const history = step(startHistory(0), 1);
    expect(redo(history)).to.equal(history);
    expect(undo(undo(history))).to.deep.equal(undo(history));
  });

  it('forgets what was undone once something else is done', () => {
    const history = step(undo(step(startHistory(0), 1)), 2);
    expect(redoWord(history)).to.equal(null);
    expect(undo(history).present.state).to.equal(0);
  });

  it('makes one step of changes that follow closely, and another after a rest', () => {
    let history = startHistory(0);
    history = step(history, 1, 'key', 0);
    history = step(history, 2, 'key', BURST_MS);
    history = step(history, 3, 'key', BURST_MS * 2 + 1);
    expect(undo(history).present.state).to.equal(2);
    expect(undo(undo(history)).present.state).to.equal(0);
  });

  it('keeps changes of two things apart, also right after an undo', () => {
    let history = step(step(startHistory(0), 1, 'a'), 2, 'b');
    expect(undo(history).present.state).to.equal(1);
    history = step(undo(history), 3, 'a');
    expect(undo(history).present.state).to.equal(1);
  });

  it('takes no step where nothing changed', () => {
    const history = step(startHistory(0), 1);
    expect(step(history, 1)).to.equal(history);
  });

  it(`keeps ${MAX_STEPS} steps`, () => {
    let history = startHistory(0);
    for (let state = 1; state <= MAX_STEPS + 50; state += 1) history = step(history, state);
    let count = 0;
    while (undoWord(history) !== null) {
      history = undo(history);
      count += 1;
    }
    expect([count, history.present.state]).to.deep.equal([MAX_STEPS, 50]);
  });
});
