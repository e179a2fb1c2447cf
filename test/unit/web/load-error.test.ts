/** What `Loaded` shows of queries that fail, over states that query-core makes. */
import { expect } from 'chai';
import { TRPCClientError } from '../../../web/src/api/client.ts';
import { type LoadState, useLoadError } from '../../../web/src/ui/feedback/load-error.ts';
import { QueryClient, QueryObserver, rendersOf } from '../../../web/static-markup.ts';

const AWAY = new Error('away');
const STILL_AWAY = new Error('still away');
const GONE = new TRPCClientError('gone', { result: { error: { data: { code: 'NOT_FOUND' } } } } as never);

/** The states of one query: before it is asked, and while it is and afterwards for each answer. */
async function statesOf(
  answers: readonly (string | Error)[],
  placeholderData?: string,
): Promise<LoadState[]> {
  const left = [...answers];
  const observer = new QueryObserver<string>(new QueryClient(), {
    ...{ queryKey: ['asked'], enabled: false, retry: false, placeholderData },
    queryFn: async () => {
      const answer = left.shift() ?? '';
      if (answer instanceof Error) throw answer;
      return answer;
    },
  });
  const unsubscribe = observer.subscribe(() => {});
  const states = [observer.getCurrentResult()];
  while (left.length > 0) {
    const answer = observer.refetch();
    states.push(observer.getCurrentResult());
    await answer;
    states.push(observer.getCurrentResult());
  }
  unsubscribe();
  return states;
}

/** What is shown of each state, where the button is clicked at some of them. */
function shownOf(states: readonly LoadState[], clicks: readonly number[] = []) {
  let asked = 0;
  const refetch = (): void => {
    asked += 1;
  };
  const shown = rendersOf(
    (render) => useLoadError({ ...(states[render] as LoadState), refetch }),
    states.slice(1).map((_, render) => (given: ReturnType<typeof useLoadError>) => {
      if (clicks.includes(render)) given?.retry();
    }),
  ).map((failed) => failed?.error ?? null);
  expect(asked).to.equal(clicks.length);
  return shown;
}

describe('the error in the place of data', () => {
  it('stays while the query is asked again by itself, until there is an answer', async () => {
    const states = await statesOf([AWAY, STILL_AWAY, 'data']);
    expect(states.map(({ isError }) => isError)).to.deep.equal([
      false,
      false,
      true,
      false,
      true,
      false,
      false,
    ]);
    expect(shownOf(states)).to.deep.equal([null, null, AWAY, AWAY, STILL_AWAY, STILL_AWAY, null]);
  });

  it('gives way to the skeleton where somebody tries again, and comes back with the next failure', async () => {
    const states = await statesOf([AWAY, STILL_AWAY]);
    expect(shownOf(states, [2])).to.deep.equal([null, null, AWAY, null, STILL_AWAY]);
  });

  it('gives way too where somebody tries again while the query is asked', async () => {
    const [, , failed, asked, still] = (await statesOf([AWAY, STILL_AWAY])) as [
      ...[LoadState, LoadState, LoadState, LoadState, LoadState],
    ];
    expect(shownOf([failed, asked, asked, still], [1])).to.deep.equal([AWAY, AWAY, null, STILL_AWAY]);
  });

  it('is not shown of another query that takes the place', async () => {
    const [first] = await statesOf([]);
    const failed = (await statesOf([AWAY])).at(-1);
    expect(shownOf([failed, first, { ...first, errorUpdatedAt: 1 }] as LoadState[])).to.deep.equal([
      AWAY,
      null,
      null,
    ]);
  });

  it('stays over what stands in for data until it is there', async () => {
    expect(shownOf(await statesOf([AWAY, 'data'], 'of before'))).to.deep.equal([
      null,
      null,
      AWAY,
      AWAY,
      null,
    ]);
  });

  it('leaves data where a refresh fails, unless it is gone', async () => {
    expect(shownOf(await statesOf(['data', AWAY, GONE])).slice(-3)).to.deep.equal([null, null, GONE]);
  });
});
