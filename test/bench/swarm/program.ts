/** The swarm: thousands of simulated agents in a process of their own, which obeys the orders of swarm/client.ts. */
import type { SwarmAnswer, SwarmOrder } from './messages.ts';
import { Nodes } from './nodes.ts';

let nodes: Nodes | undefined;
let answerWhenQuiet: 'halt' | 'herd' | undefined;
let cpuBefore = process.cpuUsage();

const answer = (message: SwarmAnswer) => process.send?.(message);

process.on('message', (message: SwarmOrder) => {
  if (message.order === 'plan') {
    void nodes?.close();
    nodes = new Nodes(message.plan);
    answer({ done: 'plan' });
    return;
  }
  if (!nodes) throw new Error('the swarm has no plan yet');
  switch (message.order) {
    case 'steady':
      nodes.steady();
      return;
    case 'herd':
      nodes.herd(message.overMs);
      quietAfter('herd', message.overMs + 100);
      return;
    case 'halt':
      nodes.halt();
      quietAfter('halt', 100);
      return;
    case 'report': {
      const { user, system } = process.cpuUsage(cpuBefore);
      cpuBefore = process.cpuUsage();
      answer({
        done: 'report',
        samples: nodes.samples.take(),
        accepted: nodes.accepted,
        cpuMs: (user + system) / 1_000,
        streamsOpen: nodes.streamsOpen,
      });
    }
  }
});
process.once('disconnect', () => process.exit(0));

function quietAfter(what: 'halt' | 'herd', ms: number): void {
  setTimeout(() => {
    answerWhenQuiet = what;
  }, ms);
}

// A millisecond is as often as a timer can be.
setInterval(() => {
  nodes?.turn();
  if (!answerWhenQuiet || !nodes?.isQuiet) return;
  answer({ done: answerWhenQuiet });
  answerWhenQuiet = undefined;
}, 1);
