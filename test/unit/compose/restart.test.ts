/** Starts of a controller inside its process, and restores that commit while one is under way. */
import { expect } from 'chai';
import { createLifecycle } from '../../../controller/compose/lifecycle.ts';
import { keepController, type Start } from '../../../controller/compose/restart.ts';
import type { Controller } from '../../../controller/main.ts';
import { createLogger } from '../../../controller/platform/runtime/logger.ts';
import { until } from '../../support/harness/until.ts';

const log = createLogger('silent');

/** A start notes when it begins, ends and is taken down; `during` is asked in its middle. */
function starter(during: (start: Start, number: number) => Promise<void> | void) {
  const events: string[] = [];
  let count = 0;
  const begin = async (start: Start): Promise<Controller> => {
    count += 1;
    const number = count;
    events.push(`${number} begins`);
    start.lifecycle.onStop('it', () => events.push(`${number} stops`));
    await during(start, number);
    events.push(`${number} runs`);
    return { url: `http://${number}`, systemContext: () => number } as unknown as Controller;
  };
  return { events, begin };
}

describe('a controller that starts again inside its process', () => {
  it('ends its first start before it begins the next, where a restore commits meanwhile', async () => {
    const { events, begin } = starter(async ({ restart }, number) => {
      if (number === 1) restart();
      await Promise.resolve();
    });
    const controller = await keepController(log, createLifecycle(log), begin);
    await until(() => events.includes('2 runs'), { what: 'the second start' });
    expect(events).to.deep.equal(['1 begins', '1 runs', '1 stops', '2 begins', '2 runs']);
    await until(() => (controller.systemContext('test') as unknown) === 2, {
      what: 'the second one to serve',
    });
    await controller.stop();
    expect(events.at(-1)).to.equal('2 stops');
  });

  it('starts once more where a restore commits during the start that another has caused', async () => {
    let restartFirst: () => void = () => {};
    const { events, begin } = starter(({ restart }, number) => {
      if (number === 1) restartFirst = restart;
      if (number === 2) restart();
    });
    const controller = await keepController(log, createLifecycle(log), begin);
    restartFirst();
    await until(() => events.includes('3 runs'), { what: 'the third start' });
    expect(events.slice(2)).to.deep.equal(['1 stops', '2 begins', '2 runs', '2 stops', '3 begins', '3 runs']);
    await controller.stop();
  });

  it('is not started again where its first start fails', async () => {
    const { events, begin } = starter(({ restart }) => {
      restart();
      throw new Error('no database');
    });
    const error = await keepController(log, createLifecycle(log), begin).catch((thrown: Error) => thrown);
    expect(String(error)).to.include('no database');
    expect(events).to.deep.equal(['1 begins', '1 stops']);
  });
});
