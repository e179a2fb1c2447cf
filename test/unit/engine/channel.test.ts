import { expect } from 'chai';
import { type Batch, logBatch } from '../../../examples/engine/event.ts';
import { Channel } from '../../../examples/engine/topology/channel.ts';

const batch = (count: number): Batch => logBatch(Array.from({ length: count }, (_unused, n) => ({ n })));

describe('the buffer between two components', () => {
  it('holds a producer back until the consumer has taken enough', async () => {
    const channel = new Channel(10);
    channel.addProducer();
    expect(channel.send(batch(9))).to.equal(undefined);
    let resumed = false;
    const full = channel.send(batch(5))!.then(() => {
      resumed = true;
    });
    await Promise.resolve();
    expect(resumed).to.equal(false);
    await channel.receive();
    await full;
    expect(channel.size).to.equal(5);
  });

  it('drops the newest events instead if told so, and counts them', () => {
    let dropped = 0;
    const ignore = () => {};
    const discarded = (batch: Batch) => {
      dropped += batch.events.length;
    };
    const channel = new Channel(10, 'drop_newest', { received: ignore, sent: ignore, discarded });
    channel.addProducer();
    for (let round = 0; round < 3; round += 1) expect(channel.send(batch(10))).to.equal(undefined);
    expect(channel.size).to.equal(10);
    expect(dropped).to.equal(20);
  });

  it('ends when the last producer is done and everything was taken', async () => {
    const channel = new Channel(10);
    channel.addProducer();
    channel.addProducer();
    channel.send(batch(1));
    channel.producerDone();
    channel.producerDone();
    expect((await channel.receive())?.batch.events).to.have.length(1);
    expect(await channel.receive()).to.equal(undefined);
  });

  it('keeps its order over many batches', async () => {
    const channel = new Channel(1e9);
    channel.addProducer();
    for (let n = 0; n < 3000; n += 1) channel.send(logBatch([{ n }]));
    for (let n = 0; n < 3000; n += 1) expect((await channel.receive())?.batch.events[0]).to.deep.equal({ n });
  });
});
