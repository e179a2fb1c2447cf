import { expect } from 'chai';
import type { Finding } from '../../../controller/cli/format/finding.ts';
import { annotation } from '../../../controller/cli/format/github.ts';
import { type Report, render } from '../../../controller/cli/format/report.ts';

const finding = (more: Partial<Finding> = {}): Finding => ({
  ...{ severity: 'error', message: 'it is wrong', hint: 'mend it' },
  ...{ path: 'a.yaml', line: 3, column: 5 },
  ...more,
});
const report = (findings: readonly Finding[], text = 'text\n'): Report => ({
  command: 'validate',
  suites: [
    {
      name: 'environments/staging',
      cases: [
        { name: 'Pipeline fine', path: 'b.yaml', line: 1, outcome: 'passed', reason: null, findings: [] },
        { name: 'Pipeline bad', path: 'a.yaml', line: 1, outcome: 'failed', reason: null, findings },
        {
          name: 'a test',
          path: 'b.yaml',
          line: 7,
          outcome: 'skipped',
          reason: 'lua is not known',
          findings: [],
        },
      ],
    },
  ],
  text,
  json: { some: 'thing' },
});

describe('annotations of GitHub', () => {
  it('name file, line and column, and what to do', () => {
    expect(annotation(finding())).to.equal('::error file=a.yaml,line=3,col=5::it is wrong%0Amend it');
    expect(
      annotation(finding({ severity: 'warning', path: null, line: null, column: null, hint: '' })),
    ).to.equal('::warning::it is wrong');
  });

  it('escape what would end them, or begin another', () => {
    const text = annotation(finding({ path: 'a,b:c%.yaml', message: '100 %\r\n::error::x', hint: '' }));
    expect(text).to.equal('::error file=a%2Cb%3Ac%25.yaml,line=3,col=5::100 %25%0D%0A::error::x');
    expect(text.split('\n')).to.have.length(1);
  });

  it('are the only commands: a line of the text that looks like one is none', () => {
    const out = render(
      report([finding()], 'fine\n::set-output name=x::y\n  ::add-mask::z\n##[error]w\n'),
      'github',
    );
    const commands = out.split('\n').filter((line) => /^\s*::|##\[/.test(line) && !line.startsWith('|'));
    expect(commands).to.deep.equal(['::error file=a.yaml,line=3,col=5::it is wrong%0Amend it']);
  });

  it('are at most as many as are of use', () => {
    const out = render(report(Array.from({ length: 500 }, () => finding())), 'github');
    expect(out.split('\n').filter((line) => line.startsWith('::error'))).to.have.length(50);
  });
});

describe('the JUnit form', () => {
  it('is the same every time', () => {
    expect(render(report([finding()]), 'junit')).to.equal(`<?xml version="1.0" encoding="UTF-8"?>
<testsuites name="headgate validate" tests="3" failures="1" skipped="1">
  <testsuite name="environments/staging" tests="3" failures="1" skipped="1">
    <testcase classname="environments/staging" name="Pipeline fine" file="b.yaml" line="1"/>
    <testcase classname="environments/staging" name="Pipeline bad" file="a.yaml" line="1">
      <failure message="it is wrong">a.yaml:3:5
it is wrong
mend it</failure>
    </testcase>
    <testcase classname="environments/staging" name="a test" file="b.yaml" line="7">
      <skipped message="lua is not known"/>
    </testcase>
  </testsuite>
</testsuites>
`);
  });

  it('holds nothing that XML does not have', () => {
    const xml = render(
      report([finding({ message: '<a & "b">\u0000\u001b]]>\ud800', hint: 'line\nline' })]),
      'junit',
    );
    expect(xml).to.include('message="&lt;a &amp; &quot;b&quot;&gt;\ufffd\ufffd]]&gt;\ufffd"');
    expect(xml).not.to.match(/[\x00-\x08\x0b\x0c\x0e-\x1f]/);
  });
});

describe('the JSON form', () => {
  it('is what programs read', () => {
    expect(JSON.parse(render(report([]), 'json'))).to.deep.equal({ some: 'thing' });
  });
});
