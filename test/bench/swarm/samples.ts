/** What the swarm measured, in arrays that grow: a minute holds half a million requests. */

export const POLL = 0;
export const HEARTBEAT = 1;

/** One entry a request. Times are milliseconds since 1970. */
export interface SampleArrays {
  kind: Uint8Array;
  node: Uint32Array;
  /** 0 where no answer came: the connection was refused or broke, or the agent's patience ended. */
  status: Uint16Array;
  due: Float64Array;
  /** When it went out; 0 for one that never did. */
  sent: Float64Array;
  ended: Float64Array;
  /** 1 where an earlier request of the same connection was still waiting for its answer when this one was due. */
  held: Uint8Array;
}

export interface Sample {
  kind: number;
  node: number;
  status: number;
  due: number;
  sent: number;
  ended: number;
  held: boolean;
}

export class Samples {
  #size = 0;
  #arrays = make(1 << 16);

  add(sample: Sample): void {
    const at = this.#size++;
    if (at === this.#arrays.kind.length) this.#arrays = grown(this.#arrays);
    const arrays = this.#arrays;
    arrays.kind[at] = sample.kind;
    arrays.node[at] = sample.node;
    arrays.status[at] = sample.status;
    arrays.due[at] = sample.due;
    arrays.sent[at] = sample.sent;
    arrays.ended[at] = sample.ended;
    arrays.held[at] = sample.held ? 1 : 0;
  }

  /** All so far, and begins anew. */
  take(): SampleArrays {
    const { kind, node, status, due, sent, ended, held } = this.#arrays;
    const size = this.#size;
    this.#size = 0;
    return {
      kind: kind.slice(0, size),
      node: node.slice(0, size),
      status: status.slice(0, size),
      due: due.slice(0, size),
      sent: sent.slice(0, size),
      ended: ended.slice(0, size),
      held: held.slice(0, size),
    };
  }
}

function make(length: number): SampleArrays {
  return {
    kind: new Uint8Array(length),
    node: new Uint32Array(length),
    status: new Uint16Array(length),
    due: new Float64Array(length),
    sent: new Float64Array(length),
    ended: new Float64Array(length),
    held: new Uint8Array(length),
  };
}

function grown(old: SampleArrays): SampleArrays {
  const arrays = make(old.kind.length * 2);
  arrays.kind.set(old.kind);
  arrays.node.set(old.node);
  arrays.status.set(old.status);
  arrays.due.set(old.due);
  arrays.sent.set(old.sent);
  arrays.ended.set(old.ended);
  arrays.held.set(old.held);
  return arrays;
}
