/** Encodes samples for Prometheus remote write 1.0: a `WriteRequest` of protobuf, compressed by snappy's block format. */
/// <reference path="./snappyjs.d.ts" />
import { BinaryWriter, WireType } from '@bufbuild/protobuf/wire';
import { compress } from 'snappyjs';
import type { Sample } from './samples.ts';

export const REMOTE_WRITE_HEADERS = {
  'Content-Type': 'application/x-protobuf',
  'Content-Encoding': 'snappy',
  'X-Prometheus-Remote-Write-Version': '0.1.0',
};

/** Samples of one series are kept together, in the order of their times, as the specification wants it. */
export function encodeWriteRequest(samples: readonly Sample[]): Uint8Array {
  const bySeries = Map.groupBy(samples, ({ labels }) => JSON.stringify(sorted(labels)));
  const request = new BinaryWriter();
  for (const [text, own] of bySeries) {
    request.tag(1, WireType.LengthDelimited).fork();
    for (const [name, value] of JSON.parse(text) as [string, string][]) {
      request.tag(1, WireType.LengthDelimited).fork();
      request.tag(1, WireType.LengthDelimited).string(name);
      request.tag(2, WireType.LengthDelimited).string(value);
      request.join();
    }
    for (const { value, at } of own.sort((a, b) => a.at - b.at)) {
      request.tag(2, WireType.LengthDelimited).fork();
      request.tag(1, WireType.Bit64).double(value);
      request.tag(2, WireType.Varint).int64(at);
      request.join();
    }
    request.join();
  }
  return compress(request.finish());
}

/** Labels must be in the order of their names. */
const sorted = (labels: Sample['labels']): [string, string][] =>
  Object.entries(labels).sort(([a], [b]) => (a < b ? -1 : 1));
