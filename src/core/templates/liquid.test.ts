import { describe, expect, it } from 'vitest';
import { MAX_FILLED_CHARS } from './limits.ts';
import { checkTemplate, fillTemplate } from './liquid.ts';
import type { TemplateContent } from './template.ts';

const template = (content: Partial<TemplateContent>): TemplateContent => ({
  subject: 's',
  textBody: null,
  htmlBody: null,
  ...content,
});

const text = (source: string, variables: unknown = {}) => {
  const filled = fillTemplate(template({ textBody: source }), JSON.stringify(variables));
  return filled.kind === 'filled' ? filled.content.textBody : filled;
};
const html = (source: string, variables: unknown = {}) => {
  const filled = fillTemplate(template({ htmlBody: source }), JSON.stringify(variables));
  return filled.kind === 'filled' ? filled.content.htmlBody : filled;
};

const HOSTILE = `<img src=x onerror="alert('1')">&`;
const ESCAPED = '&lt;img src=x onerror=&#34;alert(&#39;1&#39;)&#34;&gt;&amp;';

describe('fillTemplate', () => {
  it('fills subject, text and HTML', () => {
    const content = {
      subject: 'Order {{ order.number }}',
      textBody: 'Hello {{ name }},\n{% for line in lines %}- {{ line.title | upcase }}\n{% endfor %}',
      htmlBody: '<p>Hello {{ name }}</p>',
    };
    const variables = { name: 'Zoë & Co', order: { number: 7 }, lines: [{ title: 'a' }, { title: 'b' }] };
    expect(fillTemplate(content, JSON.stringify(variables))).toEqual({
      kind: 'filled',
      content: {
        subject: 'Order 7',
        textBody: 'Hello Zoë & Co,\n- A\n- B\n',
        htmlBody: '<p>Hello Zoë &amp; Co</p>',
      },
    });
  });

  it.each([
    ['{{ x }}', ESCAPED],
    ['{% echo x %}', ESCAPED],
    ['{% cycle x, x %}', ESCAPED],
    ['{% assign y = x %}{{ y }}', ESCAPED],
    ['{% for y in list %}{{ y }}{% endfor %}', ESCAPED],
    ['{{ list }}', ESCAPED],
    ['{{ x | append: "" }}', ESCAPED],
    ['{{ "" | default: x }}', ESCAPED],
    // Not twice.
    ['{{ x | escape }}', ESCAPED],
    ['{{ x | escape_once }}', ESCAPED],
    ['{{ x | newline_to_br }}', ESCAPED],
    ['{{ two | newline_to_br }}', '&lt;a&gt;<br />\nb'],
    ['{{ x | raw }}', HOSTILE],
  ])('escapes values in HTML: %s', (source, expected) => {
    expect(html(source, { x: HOSTILE, list: [HOSTILE], two: '<a>\nb' })).toBe(expected);
  });

  it('escapes nothing in text and subject', () => {
    expect(text('{{ x }}', { x: HOSTILE })).toBe(HOSTILE);
    const filled = fillTemplate(
      template({ subject: '{{ x }}', textBody: 't' }),
      JSON.stringify({ x: '<&>' }),
    );
    expect(filled).toMatchObject({ content: { subject: '<&>' } });
  });

  it('never reads a variable as Liquid', () => {
    expect(text('{{ x }}', { x: '{{ y }}{% if %}' })).toBe('{{ y }}{% if %}');
  });

  it.each([
    ['{{ name }}', 'name', 1, 4],
    ['Dear\n  {{ customer.name }}', 'customer.name', 2, 6],
    ['{{ a[0].b }}', 'a.0', 1, 4],
    ['{% for x in items %}{% endfor %}', 'items', 1, 13],
    ['{{ "x" | append: y }}', 'y', 1, 18],
  ])('names the variable that is missing: %j', (source, variable, line, column) => {
    expect(text(source, { customer: {}, a: [] })).toEqual({
      kind: 'missing_variable',
      field: 'text_body',
      line,
      column,
      variable,
    });
  });

  it.each([
    ['{% if x %}a{% else %}b{% endif %}', 'b'],
    ['{{ x | default: "d" }}', 'd'],
    ['[{{ nothing }}]', '[]'],
  ])('lets conditions and defaults ask for what is not there: %s', (source, expected) => {
    expect(text(source, { nothing: null })).toBe(expected);
  });

  it.each([
    'constructor',
    '__proto__',
    'toString',
    'a.constructor',
    'a.__proto__',
    'list.map',
    't.length.constructor',
  ])('sees nothing of JavaScript: %s', (path) => {
    const given = { a: {}, list: [1], t: 'x' };
    expect(text(`{{ ${path} }}`, given)).toMatchObject({ kind: 'missing_variable' });
    const computed = path.split('.').map((part) => `["${part}"]`);
    expect(text(`{{ a${computed.join('')} }}`, given)).toMatchObject({ kind: 'missing_variable' });
  });

  it('takes what is named like a part of JavaScript for what it is', () => {
    const variables = '{"__proto__": {"x": "own"}, "constructor": "c"}';
    const content = template({ textBody: '{{ constructor }} {{ __proto__.x }}' });
    expect(fillTemplate(content, variables)).toMatchObject({ content: { textBody: 'c own' } });
    expect(({} as Record<string, unknown>)['x']).toBeUndefined();
  });

  it.each([
    '{% include "/etc/passwd" %}',
    '{% include "../x" %}',
    '{% render "x" %}',
    '{% layout "x" %}{% block a %}{% endblock %}',
    '{% liquid\n include "/etc/passwd" %}',
    '{% nope %}',
    '{{ x | nope }}',
    '{{ x',
    '{% if x %}',
    '{% for %}{% endfor %}',
    '{% endif %}',
    '{{ list | where_exp: "x", "(" }}',
    '{{ object | append: "x" }}',
  ])('refuses %j without a word about this machine', (source) => {
    const found = text(source, { x: 1, list: [1], object: { toString: 1, valueOf: 1 } });
    expect(found).toMatchObject({ kind: 'invalid', field: 'text_body' });
    expect(JSON.stringify(found)).not.toMatch(/ENOENT|node_modules|\.js|file:|\bat \w+ \(|"column":0/);
  });

  it.each([
    ['a long range', '{% for i in (1..1000000000) %}x{% endfor %}'],
    ['loops in loops', '{% for i in (1..1000) %}{% for j in (1..1000) %}x{% endfor %}{% endfor %}'],
    [
      'a text that doubles',
      '{% assign x = "xxxx" %}{% for i in (1..60) %}{% assign x = x | append: x %}{% endfor %}',
    ],
    [
      'a list that doubles',
      '{% assign x = "a,b" | split: "," %}{% for i in (1..60) %}{% assign x = x | concat: x %}{% endfor %}',
    ],
    ['padding', '{{ "now" | date: "%999999999Y" }}'],
    ['a long output', `{% for i in (1..2000) %}${'x'.repeat(1000)}{% endfor %}`],
    ['nesting', `${'{% if true %}'.repeat(15_000)}${'{% endif %}'.repeat(15_000)}`],
    [
      'replacements',
      '{% assign x = "xxxxxxxxxx" %}{% for i in (1..9) %}{% assign x = x | replace: "x", x %}{% endfor %}',
    ],
    ...[
      '{{ x }}',
      '{% echo x %}',
      '{{ x | join: "" }}',
      '{{ x | json | size }}',
      '{% capture y %}{{ x }}{% endcapture %}',
      '{% if x == y %}z{% endif %}',
      '{% if y contains x %}z{% endif %}',
    ].map((use): [string, string] => [
      `lists that contain the one before twice: ${use}`,
      `{% assign x = "" | split: "" %}${'{% assign x = x | push: x | push: x %}'.repeat(40)}{% assign y = x | reverse | reverse %}${use}`,
    ]),
    [
      'comparisons of long texts',
      `{% assign y = x | append: "" %}{% for i in (1..5000) %}{% if x contains y %}{% endif %}{% endfor %}`,
    ],
  ])('stops at its bounds: %s', (_name, source) => {
    expect(text(source, { x: 'a'.repeat(10_000) })).toEqual({ kind: 'too_much', field: 'text_body' });
    expect(html(source, { x: 'a'.repeat(10_000) })).toEqual({ kind: 'too_much', field: 'html_body' });
  });

  it('gives as much as it may', () => {
    const source = 'x'.repeat(MAX_FILLED_CHARS / 4);
    expect(text(`{{ x }}{{ x }}{{ x }}{{ x }}`, { x: source })).toHaveLength(MAX_FILLED_CHARS);
    expect(text(`{{ x }}{{ x }}{{ x }}{{ x }}.`, { x: source })).toMatchObject({ kind: 'too_much' });
  });

  it.each<[string, Partial<TemplateContent>, string]>([
    ['a subject', { subject: ' {{ x }} ', textBody: 't' }, 'subject'],
    ['a text', { textBody: '{{ x }}' }, 'text_body'],
    ['an HTML', { htmlBody: '{{ x }}' }, 'html_body'],
  ])('says that %s is empty', (_name, content, field) => {
    expect(fillTemplate(template(content), '{"x": ""}')).toEqual({ kind: 'empty', field });
  });

  it('begins anew with each field', () => {
    const content = {
      subject: '{% assign list = list | push: 3 %}{{ list | size }}',
      textBody: '{{ list | size }}{% increment n %}',
      htmlBody: '{% increment n %}',
    };
    expect(fillTemplate(content, '{"list": [1, 2]}')).toMatchObject({
      content: { subject: '3', textBody: '20', htmlBody: '0' },
    });
  });
});

describe('checkTemplate', () => {
  it('tells the variables that an email has to give', () => {
    const content = {
      subject: '{{ order.number }}',
      textBody:
        '{% assign own = 1 %}{% for line in lines %}{{ line.title }}{{ own }}{% endfor %}{{ order.number }}',
      htmlBody: '{{ customer.name }}',
    };
    expect(checkTemplate(content)).toEqual({
      kind: 'valid',
      variables: ['order.number', 'lines', 'customer.name'],
    });
  });

  it.each([
    ['{% if x %}', 'text_body', 1],
    ['a\nb {{ x | nope }}', 'text_body', 2],
  ])('tells where %j is wrong', (source, field, line) => {
    expect(checkTemplate(template({ textBody: source }))).toMatchObject({ kind: 'invalid', field, line });
  });
});
