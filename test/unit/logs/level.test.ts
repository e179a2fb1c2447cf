/** The level of a log line, by its own text. */
import { expect } from 'chai';
import fc from 'fast-check';
import { levelOf, levelsOf } from '../../../controller/fleet/logs/log-level.ts';
import { LOG_LEVELS, type LogLevel } from '../../../schemas/api/fleet/logs.ts';

const ROWS: [reason: string, line: string, level: LogLevel | null][] = [
  ['JSON', '{"level":"ERROR","message":"x"}', 'ERROR'],
  ['JSON in lower case', '{"timestamp":"2026","level":"warn"}', 'WARN'],
  ['JSON, WARNING', '{"severity":"WARNING"}', 'WARN'],
  ['JSON, FATAL', '{"Level":"Fatal"}', 'ERROR'],
  ['JSON, CRITICAL', '{"levelname":"CRITICAL"}', 'ERROR'],
  ['JSON, a key with a dot', '{"log.level":"debug"}', 'DEBUG'],
  ['pino 10', '{"level":10}', 'TRACE'],
  ['pino 20', '{"level":20}', 'DEBUG'],
  ['pino 30', '{"level":30,"time":1}', 'INFO'],
  ['bunyan 40', '{"name":"a","level":40}', 'WARN'],
  ['pino 60', '{"level":60}', 'ERROR'],
  ['GELF 3', '{"version":"1.1","level":3}', 'ERROR'],
  ['a number as text', '{"level":"50"}', 'ERROR'],
  ['JSON with the level of something inside', '{"a":{"level":"error"},"level":"info"}', 'INFO'],
  ['JSON that quotes another', '{"message":"{\\"level\\":\\"error\\"}"}', null],
  ['JSON with a level that is none', '{"level":"north"}', null],
  ['JSON that was cut', '{"level":"error","message":"aaa', 'ERROR'],
  ['JSON with no level', '{"message":"ERROR"}', null],
  ['the engine', '2026-11-21T10:00:00.123456Z ERROR vector::topology: Configuration error.', 'ERROR'],
  ['the engine, padded', '2026-11-21T10:00:00.123456Z  INFO vector::app: no errors', 'INFO'],
  ['the engine, a span', '2026-11-21T10:00:00Z  WARN sink{component_id=a}: vector: x', 'WARN'],
  ['colours', '\u001b[2m2026-11-21T10:00:00Z\u001b[0m \u001b[31mERROR\u001b[0m vector: x', 'ERROR'],
  ['logfmt', 'time=2026-11-21T10:00:00Z level=warn msg="no errors"', 'WARN'],
  ['logfmt with quotes', 'level="error" msg=x', 'ERROR'],
  ['logfmt, far behind', `msg="${'x'.repeat(300)}" level=error`, null],
  ['syslog 3', '<3>kernel: disk failed', 'ERROR'],
  ['syslog with a facility', '<28>1 2026-11-21T10:00:00Z host app', 'WARN'],
  ['syslog 7', '<7>noise', 'DEBUG'],
  ['brackets', '[ERROR] out of disk', 'ERROR'],
  ['brackets in lower case', '2026/11/21 10:00:00 [error] 123#0: *1 open() failed', 'ERROR'],
  ['a thread in brackets', '2026-11-21 10:00:00,123 [worker 1] WARN com.example - slow', 'WARN'],
  ['names between', '2026-11-21 10:00:00,123 - app.main - DEBUG - x', 'DEBUG'],
  ['Python’s default', 'ERROR:root:failed', 'ERROR'],
  ['Apache', '[Sat Nov 21 10:00:00.000000 2026] [core:error] [pid 1] x', 'ERROR'],
  ['klog', 'E1121 10:00:00.000000       1 file.go:12] x', 'ERROR'],
  ['klog, information', 'I1121 10:00:00.000000       1 file.go:12] ERROR', 'INFO'],
  ['a word with a colon', 'error: no such file', 'ERROR'],
  ['Fatal with a colon', 'Fatal: cannot start', 'ERROR'],
  ['an exception', 'java.lang.IllegalStateException: x', 'ERROR'],
  ['a panic of Rust', "thread 'main' panicked at src/main.rs:1:1:", 'ERROR'],
  ['a panic of Go', 'panic: runtime error', 'ERROR'],
  ['a traceback', 'Traceback (most recent call last):', 'ERROR'],
  ['no errors', 'no errors', null],
  ['no ERROR', 'no ERROR found', null],
  ['a time and no ERROR', '2026-11-21T10:00:00Z no ERROR found', null],
  ['a sentence', 'finished with 0 errors', null],
  ['a sentence that begins with the word', 'error rate is 0', null],
  ['a setting', 'listening; LOG_LEVEL=DEBUG', null],
  ['a word far behind', `${'a '.repeat(100)}ERROR`, null],
  ['a longer word', 'ERRORS 0', null],
  ['a word of the object’s own', 'CONSTRUCTOR: x', null],
  ['nothing', '', null],
];

describe('the level of a log line', () => {
  for (const [reason, line, level] of ROWS) {
    it(`is ${level ?? 'not told'} (${reason})`, () => {
      expect(levelOf(line)).to.equal(level);
    });
  }

  it('is INFO where a first line tells none', () => {
    expect(levelsOf(['no errors', '2026-11-21T10:00:00Z started'])).to.deep.equal(['INFO', 'INFO']);
  });

  it('is that of the line before where a line goes on with it', () => {
    const lines = [
      '2026-11-21T10:00:00Z ERROR vector: failed',
      '    at main (src/main.rs:1)',
      'Caused by: nothing',
      '{"message":"an event"}',
      'WARN slow',
      '  more of it',
      '2026-11-21T10:00:01Z started',
      'and on',
    ];
    expect(levelsOf(lines)).to.deep.equal([
      'ERROR',
      'ERROR',
      'ERROR',
      'INFO',
      'WARN',
      'WARN',
      'INFO',
      'INFO',
    ]);
  });

  it('is one for each line, whatever the lines are', () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: 'binary', maxLength: 300 })), (lines) => {
        const levels = levelsOf(lines);
        expect(levels).to.have.length(lines.length);
        for (const level of levels) expect(LOG_LEVELS).to.include(level);
      }),
    );
    const hostile = ['[', '<', '1', 'a.', '"level":', '{', ' ', "thread '", ': '].map((part) =>
      part.repeat(Math.floor(8_192 / part.length)),
    );
    expect(levelsOf(hostile)).to.have.length(hostile.length);
  });
});
