/** Templates in the page: chosen, filled in, previewed and inserted into a message. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { toVariables } from '../../page/src/features/write/template-variables.ts';
import { skipWithoutChromium } from '../helpers/chromium.ts';
import { accessibilityFaults, usePages } from '../helpers/open-page.ts';
import { getJson, startServiceWithDatabase, type RunningService } from '../helpers/running-service.ts';

describe('the variables of a template', () => {
  it('become objects by their paths', () => {
    expect(JSON.stringify(toVariables({ 'order.number': '7', 'order.date.day': '1', name: 'Ann' }))).toBe(
      '{"order":{"number":"7","date":{"day":"1"}},"name":"Ann"}',
    );
  });

  it('keep their parts, and names of a language, whatever is asked for', () => {
    expect(JSON.stringify(toVariables({ 'a.b': '1', a: '2' }))).toBe('{"a":{"b":"1"}}');
    expect(JSON.stringify(toVariables({ a: '2', 'a.b': '1' }))).toBe('{"a":{"b":"1"}}');
    expect(JSON.stringify(toVariables({ '__proto__.x': '1', constructor: '2' }))).toBe(
      '{"__proto__":{"x":"1"},"constructor":"2"}',
    );
    expect({}).not.toHaveProperty('x');
  });
});

describe.skipIf(skipWithoutChromium())('a template in the page', () => {
  let running: RunningService;
  const pages = usePages();

  beforeAll(async () => {
    running = await startServiceWithDatabase();
    const make = async (json: object): Promise<void> => {
      expect((await running.service.request('/api/templates', { json })).status).toBe(201);
    };
    await make({
      name: 'Offer',
      subject: 'Offer {{ order.number }}',
      html_body:
        '<p style="color:red">Dear <b>{{ customer.name }}</b>,</p><p>your order {{ order.number }}.</p>',
    });
    await make({ name: 'Greeting', subject: 'Hello', text_body: 'Many thanks.\nWe call you.' });
  });
  afterAll(() => running.end());

  it('is filled, shown, and stands in the message with what was written before', async () => {
    const page = await pages.open(running.service.url, '/write/new');
    const message = page.getByRole('textbox', { name: 'Message' });
    await message.fill('First');
    await page.getByRole('button', { name: 'Use a template' }).click();
    await page.getByRole('button', { name: 'Offer' }).click();
    await page.getByRole('textbox', { name: 'customer.name' }).fill('Ann <i>');
    expect(await page.getByRole('button', { name: 'Insert', exact: true }).count()).toBe(0);
    await page.getByRole('textbox', { name: 'order.number' }).fill('7');
    const preview = page.getByRole('document', { name: 'Preview' });
    await preview.getByText('your order 7.').waitFor();
    expect(await preview.locator('strong').innerText()).toBe('Ann <i>');
    expect(await accessibilityFaults(page)).toEqual([]);
    await page.getByRole('button', { name: 'Insert', exact: true }).click();
    await expect.poll(() => page.getByRole('textbox', { name: 'Subject' }).inputValue()).toBe('Offer 7');
    await page.getByRole('button', { name: 'Use a template' }).click();
    await page.getByRole('button', { name: 'Greeting' }).click();
    await page.getByRole('button', { name: 'Insert', exact: true }).click();
    await expect.poll(() => message.innerText()).toContain('We call you.');
    await expect
      .poll(async () => {
        const { drafts } = await getJson<{ drafts: { id: string }[] }>(running.service, '/api/drafts');
        if (drafts[0] === undefined) return null;
        return (await getJson<{ message: object }>(running.service, `/api/drafts/${drafts[0].id}`)).message;
      })
      .toMatchObject({
        subject: 'Offer 7',
        text_body: expect.stringMatching(/^First\n(?:.*\n)*Many thanks\.\nWe call you\.$/),
        html_body:
          '<div>First</div><div>Dear <strong>Ann &lt;i&gt;</strong>,</div><div>your order 7.</div>' +
          '<div>Many thanks.</div><div>We call you.</div>',
      });
  });
});
